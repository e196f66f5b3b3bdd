package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// driveBody says which deletions to drive on: some, or all.
type driveBody struct {
	Deletions []string `json:"deletions,omitempty" maxItems:"1000"`
	All       bool     `json:"all,omitempty"`
	OlderThan string   `json:"older_than,omitempty" doc:"With all: a Go duration, like 1m." example:"1m"`
}

// Resolve refuses a body that says neither or both.
func (b *driveBody) Resolve(huma.Context) []error {
	switch {
	case b.All == (len(b.Deletions) > 0):
		return []error{problem.New(problem.InvalidRequest, "say either deletions or all").At("deletions")}
	case b.OlderThan != "" && !b.All:
		return []error{problem.New(problem.InvalidRequest, "older_than goes with all").At("older_than")}
	}
	if d, err := b.olderThan(); err != nil || d < 0 {
		return []error{problem.New(problem.InvalidRequest, "older_than is a duration with its unit, like 1m").At("older_than")}
	}
	return nil
}

func (b *driveBody) olderThan() (time.Duration, error) {
	if b.OlderThan == "" {
		return 0, nil
	}
	return time.ParseDuration(b.OlderThan)
}

// drive is what the service is asked.
func (b *driveBody) drive() dependency.Drive {
	older, _ := b.olderThan() // Resolve has looked at it
	return dependency.Drive{Deletions: b.Deletions, All: b.All, OlderThan: older}
}

type pendingIn struct {
	Cursor cursor `query:"cursor" doc:"next_cursor of the page before."`
}

type pendingOut struct {
	Body dependency.Page[dependency.PendingFlag]
}

type driveIn struct {
	Body driveBody
}

type drivenOut struct {
	Body dependency.Driven
}

// pendingRoutes are the unsent command flags.
func (s *server) pendingRoutes() {
	tags := []string{"operations"}
	route(s, forOperators(huma.Operation{
		OperationID: "list-pending", Method: http.MethodGet, Path: "/v1/admin/pending", Tags: tags,
		Summary: "List command flags that are not sent yet", Errors: readErrors(),
	}), func(ctx context.Context, in *pendingIn) (*pendingOut, error) {
		page, err := s.cfg.Dependency.Pending(ctx, string(in.Cursor))
		page.Items = filled(page.Items)
		return &pendingOut{Body: page}, err
	})
	route(s, forOperators(huma.Operation{
		OperationID: "replay-pending", Method: http.MethodPost, Path: "/v1/admin/pending/replay", Tags: tags,
		Summary: "Publish command flags now", Errors: readErrors(),
	}), func(ctx context.Context, in *driveIn) (*drivenOut, error) {
		driven, err := s.cfg.Dependency.Replay(ctx, in.Body.drive())
		return &drivenOut{Body: driven}, err
	})
}
