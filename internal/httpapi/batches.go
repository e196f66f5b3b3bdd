package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

type deleteManyIn struct {
	TraceParent string `header:"traceparent" doc:"W3C trace context, carried along."`
	Body        struct {
		IDs            []string `json:"ids,omitempty" minItems:"1" maxItems:"1000" doc:"Assets that go together; those that go do not stand in each other's way."`
		Owner          string   `json:"owner,omitempty" minLength:"1" doc:"Instead of ids: all that this owner has."`
		Reason         string   `json:"reason" maxLength:"1000" doc:"Kept in the audit trail."`
		WithDependants bool     `json:"with_dependants,omitempty" doc:"With ids: take along what depends on them."`
	}
}

// Resolve wants either ids or an owner.
func (in *deleteManyIn) Resolve(huma.Context) []error {
	b := in.Body
	switch {
	case (len(b.IDs) > 0) == (b.Owner != ""):
		return []error{problem.New(problem.InvalidRequest, "name either ids or an owner").At("ids")}
	case b.Owner != "" && b.WithDependants:
		return []error{problem.New(problem.InvalidRequest, "what depends on an owner's assets is refused; leave with_dependants out").At("with_dependants")}
	}
	return nil
}

// batchResult is what became of one asset: a deletion, or why not.
type batchResult struct {
	ID       string               `json:"id"`
	Deletion *dependency.Deletion `json:"deletion,omitempty"`
	Error    *problemDocument     `json:"error,omitempty"`
}

func batchResults(results []dependency.SetResult) []batchResult {
	out := make([]batchResult, len(results))
	for i, r := range results {
		out[i].ID = r.ID
		if r.Refusal != nil {
			out[i].Error = newDocument(r.Refusal)
		}
		if r.Deletion != nil {
			d := filledDeletion(*r.Deletion)
			out[i].Deletion = &d
		}
	}
	return out
}

type batchAccepted struct {
	Batch   string        `json:"batch"`
	Results []batchResult `json:"results,omitempty" doc:"With ids: one for each, in their order."`
}

type deleteManyOut struct {
	Location string `header:"Location"`
	Body     batchAccepted
}

type batchIn struct {
	Batch  batchID `path:"batch"`
	Cursor cursor  `query:"cursor" doc:"next_cursor of the answer before: the next 1,000 refusals."`
}

// batchID is a path parameter that can only name something when it is a UUID.
type batchID string

// Resolve answers like for an unknown batch.
func (id *batchID) Resolve(huma.Context, *huma.PathBuffer) []error {
	if !isUUID(string(*id)) {
		return []error{problem.New(problem.NotFound, "there is no batch %q", string(*id))}
	}
	return nil
}

type batchView struct {
	Batch     string            `json:"batch"`
	Status    dependency.Status `json:"status" doc:"deleting until all that was accepted has ended; of an owner, until it may write again."`
	Accepted  int               `json:"accepted" doc:"Deletions."`
	Deleted   int               `json:"deleted"`
	Cancelled int               `json:"cancelled"`
	Refused   []batchResult     `json:"refused" doc:"Assets that stay, the first 1,000."`
	// Total is only that of the refusals.
	Total      int    `json:"refused_total"`
	NextCursor string `json:"next_cursor,omitempty"`
}

type batchOut struct {
	Body batchView
}

// batchRoutes are the deletion of many assets at once.
func (s *server) batchRoutes() {
	tags := []string{"deletions"}
	route(s, huma.Operation{
		OperationID: "delete-many", Method: http.MethodPost, Path: "/v1/deletions", Tags: tags, DefaultStatus: http.StatusAccepted,
		Summary: "Delete many assets, or all that an owner has",
		Description: "With ids: one transaction, and one result for each; what is refused stays, with whatever of the set it keeps. With an owner: " +
			"a batch that is driven to its end; writes for the owner answer 409 owner-erasing until then.",
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable},
	}, s.deleteMany)
	route(s, huma.Operation{
		OperationID: "get-batch", Method: http.MethodGet, Path: "/v1/batches/{batch}", Tags: tags,
		Summary: "Read how far a batch is", Errors: readErrors(),
	}, func(ctx context.Context, in *batchIn) (*batchOut, error) {
		b, err := s.cfg.Dependency.Batch(ctx, string(in.Batch), string(in.Cursor))
		return &batchOut{Body: batchView{Batch: b.ID, Status: b.Status, Accepted: b.Accepted, Deleted: b.Deleted, Cancelled: b.Cancelled,
			Refused: batchResults(b.Refused), Total: b.RefusedTotal, NextCursor: b.NextCursor}}, err
	})
}

func (s *server) deleteMany(ctx context.Context, in *deleteManyIn) (*deleteManyOut, error) {
	trace := ""
	if traceParent.MatchString(in.TraceParent) {
		trace = in.TraceParent
	}
	var out batchAccepted
	if in.Body.Owner != "" {
		batch, err := s.cfg.Dependency.DeleteOwner(ctx, dependency.OwnerRequest{Owner: in.Body.Owner, Reason: in.Body.Reason, TraceParent: trace})
		if err != nil {
			return nil, err
		}
		out.Batch = batch
	} else {
		a, err := s.cfg.Dependency.DeleteSet(ctx, dependency.SetRequest{
			IDs: in.Body.IDs, Reason: in.Body.Reason, WithDependants: in.Body.WithDependants, TraceParent: trace,
		})
		if err != nil {
			return nil, err
		}
		out = batchAccepted{Batch: a.Batch, Results: batchResults(a.Results)}
	}
	return &deleteManyOut{Location: "/v1/batches/" + out.Batch, Body: out}, nil
}
