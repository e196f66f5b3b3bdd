package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

type linkIn struct {
	ID   assetID `path:"id" doc:"The source: the asset that needs, belongs to or mentions the target."`
	Type string  `path:"type" doc:"A link type of the policy."`
	To   assetID `path:"to" doc:"The target."`
}

// linkRoutes are making and removing one link.
func (s *server) linkRoutes() {
	const path = "/v1/assets/{id}/links/{type}/{to}"
	tags := []string{"links"}
	refusals := func() []int {
		return []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable}
	}
	route(s, huma.Operation{
		OperationID: "put-link", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Link an asset to another", Errors: refusals(),
	}, func(ctx context.Context, in *linkIn) (*struct{}, error) {
		return nil, s.cfg.Dependency.Link(ctx, string(in.ID), in.Type, string(in.To))
	})
	route(s, huma.Operation{
		OperationID: "delete-link", Method: http.MethodDelete, Path: path, Tags: tags, Summary: "Remove a link",
		Description: "Removing a link never deletes an asset.", Errors: refusals(),
	}, func(ctx context.Context, in *linkIn) (*struct{}, error) {
		return nil, s.cfg.Dependency.Unlink(ctx, string(in.ID), in.Type, string(in.To))
	})
}
