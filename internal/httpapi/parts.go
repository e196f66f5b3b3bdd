package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

type deletePartIn struct {
	ID   assetID `path:"id"`
	Part string  `path:"part" doc:"A part of the asset's kind."`
	DeleteConditions
}

// deletePartRoute is the deletion of one part. What makes no sense for a part (with_dependants, If-Plan) is taken, so that
// it is refused and not ignored.
func (s *server) deletePartRoute() {
	route(s, huma.Operation{
		OperationID: "delete-part", Method: http.MethodDelete, Path: "/v1/assets/{id}/parts/{part}", Tags: []string{"deletions"},
		DefaultStatus: http.StatusAccepted,
		Summary:       "Delete one part of an asset",
		Description: "As the deletion of an asset, whatever depends on it; the asset stays, and the part may be written again. If-Match is the " +
			"part's generation. 422 with with_dependants or If-Plan.",
		Responses: map[string]*huma.Response{"200": jsonResponse("Deleted", "Deletion")},
		Errors: []int{
			http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusLocked, http.StatusServiceUnavailable,
		},
	}, func(ctx context.Context, in *deletePartIn) (*acceptedOut, error) {
		d, err := s.cfg.Dependency.DeletePart(ctx, string(in.ID), in.Part, in.request())
		return accepted(d), err
	})
}
