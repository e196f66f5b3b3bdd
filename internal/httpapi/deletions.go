package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

type getDeletionIn struct {
	Deletion deletionID `path:"did"`
	Cursor   cursor     `query:"cursor" doc:"next_cursor of the deletion before: the next 100 steps."`
}

type deletionOut struct {
	Body dependency.Deletion
}

type listDeletionsIn struct {
	Status  string `query:"status" enum:"scheduled,deleting,deleted,cancelled"`
	Stalled string `query:"stalled" enum:"true,false"`
	Blocked bool   `query:"blocked" doc:"Only those that are deleting and blocked."`
	Owner   string `query:"owner"`
	Batch   string `query:"batch"`
	Cursor  cursor `query:"cursor" doc:"next_cursor of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

// query is what the service is asked.
func (in *listDeletionsIn) query() dependency.DeletionQuery {
	q := dependency.DeletionQuery{
		Status: dependency.Status(in.Status), Owner: in.Owner, Batch: in.Batch, Cursor: string(in.Cursor), Limit: in.Limit,
		Blocked: in.Blocked,
	}
	if in.Stalled != "" {
		stalled := in.Stalled == "true"
		q.Stalled = &stalled
	}
	return q
}

type deletionsOut struct {
	Body dependency.Page[dependency.Deletion]
}

// deletionRoutes are looking at deletions.
func (s *server) deletionRoutes() {
	tags := []string{"deletions"}
	route(s, huma.Operation{
		OperationID: "get-deletion", Method: http.MethodGet, Path: "/v1/deletions/{did}", Tags: tags,
		Summary: "Read a deletion with its first steps", Errors: readErrors(),
	}, func(ctx context.Context, in *getDeletionIn) (*deletionOut, error) {
		d, err := s.cfg.Dependency.Deletion(ctx, string(in.Deletion), string(in.Cursor))
		return &deletionOut{Body: filledDeletion(d)}, err
	})
	route(s, huma.Operation{
		OperationID: "list-deletions", Method: http.MethodGet, Path: "/v1/deletions", Tags: tags,
		Summary: "List deletions, newest first", Errors: readErrors(),
	}, func(ctx context.Context, in *listDeletionsIn) (*deletionsOut, error) {
		page, err := s.cfg.Dependency.Deletions(ctx, in.query())
		return &deletionsOut{Body: filledDeletions(page)}, err
	})
}
