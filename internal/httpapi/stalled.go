package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

type explainOut struct {
	Body dependency.Explanation
}

// forceBody names the part to give up.
type forceBody struct {
	Part   string `json:"part" minLength:"1" doc:"The part whose store is gone for good."`
	Reason string `json:"reason" minLength:"1" maxLength:"1000" doc:"Kept in the audit trail."`
}

type forceIn struct {
	Deletion deletionID `path:"did"`
	Body     forceBody
}

type stalledIn struct {
	Cursor cursor `query:"cursor" doc:"next_cursor of the page before."`
}

// stalledRoutes are for deletions that do not end by themselves.
func (s *server) stalledRoutes() {
	tags := []string{"operations"}
	route(s, huma.Operation{
		OperationID: "explain-deletion", Method: http.MethodGet, Path: "/v1/deletions/{did}/explain", Tags: []string{"deletions"},
		Summary: "Tell what a deletion waits for, and what may be done", Errors: readErrors(),
	}, func(ctx context.Context, in *oneDeletionIn) (*explainOut, error) {
		x, err := s.cfg.Dependency.Explain(ctx, string(in.Deletion))
		x.Causes, x.MayDo = filled(x.Causes), filled(x.MayDo)
		return &explainOut{Body: x}, err
	})
	route(s, forOperators(huma.Operation{
		OperationID: "force-part", Method: http.MethodPost, Path: "/v1/deletions/{did}/force", Tags: tags,
		Summary:     "Give up a part whose store is gone for good",
		Description: "The part counts as erased without having been seen to be absent; its step and the audit trail say so for ever.",
		Errors:      append(readErrors(), http.StatusConflict),
	}), func(ctx context.Context, in *forceIn) (*deletionOut, error) {
		d, err := s.cfg.Dependency.Force(ctx, string(in.Deletion), dependency.Force{Part: in.Body.Part, Reason: in.Body.Reason})
		return &deletionOut{Body: filledDeletion(d)}, err
	})
	route(s, forOperators(huma.Operation{
		OperationID: "list-stalled", Method: http.MethodGet, Path: "/v1/admin/stalled", Tags: tags,
		Summary: "List deletions that are past their deadline, blocked or failing, newest first", Errors: readErrors(),
	}), func(ctx context.Context, in *stalledIn) (*deletionsOut, error) {
		page, err := s.cfg.Dependency.Stalled(ctx, string(in.Cursor))
		return &deletionsOut{Body: filledDeletions(page)}, err
	})
	route(s, forOperators(huma.Operation{
		OperationID: "retry-stalled", Method: http.MethodPost, Path: "/v1/admin/stalled/retry", Tags: tags,
		Summary: "Drive deletions now, without waiting for their next try", Errors: readErrors(),
	}), func(ctx context.Context, in *driveIn) (*drivenOut, error) {
		driven, err := s.cfg.Dependency.Retry(ctx, in.Body.drive())
		return &drivenOut{Body: driven}, err
	})
}
