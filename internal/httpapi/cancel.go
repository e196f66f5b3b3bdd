package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// oneDeletionIn names a deletion.
type oneDeletionIn struct {
	Deletion deletionID `path:"did"`
}

// cancelRoute takes a deletion back.
func (s *server) cancelRoute() {
	route(s, huma.Operation{
		OperationID: "cancel-deletion", Method: http.MethodPost, Path: "/v1/deletions/{did}/cancel", Tags: []string{"deletions"},
		Summary:     "Take a scheduled deletion back",
		Description: "Every asset that it took is live again, with its links. 409 too-late once it has begun; a repeat is answered like the first.",
		Errors:      append(readErrors(), http.StatusConflict),
	}, func(ctx context.Context, in *oneDeletionIn) (*deletionOut, error) {
		d, err := s.cfg.Dependency.Cancel(ctx, string(in.Deletion))
		return &deletionOut{Body: filledDeletion(d)}, err
	})
}
