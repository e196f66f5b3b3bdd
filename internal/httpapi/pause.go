package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// pauseRoutes stop physical deletion, and go on with it.
func (s *server) pauseRoutes() {
	for _, r := range []struct {
		name, summary, description string
		do                         func(context.Context) error
	}{
		{"pause", "Stop physical deletion, over restarts too", "Deletions are still accepted; nothing is published or erased.", s.cfg.Dependency.Pause},
		{"resume", "Go on with physical deletion", "What was accepted meanwhile is published now.", s.cfg.Dependency.Resume},
	} {
		route(s, forOperators(huma.Operation{
			OperationID: r.name, Method: http.MethodPost, Path: "/v1/admin/" + r.name, Tags: []string{"operations"},
			Summary: r.summary, Description: r.description, Errors: readErrors(),
		}), func(ctx context.Context, _ *struct{}) (*struct{}, error) { return nil, r.do(ctx) })
	}
}
