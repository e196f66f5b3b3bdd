package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// pauseBody says why.
type pauseBody struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Shown to operators as long as it lasts."`
}

type pauseIn struct {
	Body *pauseBody `required:"false"`
}

// pauseRoutes stop physical deletion, and go on with it.
func (s *server) pauseRoutes() {
	tags := []string{"operations"}
	route(s, forOperators(huma.Operation{
		OperationID: "pause", Method: http.MethodPost, Path: "/v1/admin/pause", Tags: tags, Summary: "Stop physical deletion, over restarts too",
		Description: "Deletions are still accepted; nothing is published or erased. A second pause leaves the first as it is.", Errors: readErrors(),
	}), func(ctx context.Context, in *pauseIn) (*struct{}, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return nil, s.cfg.Dependency.Pause(ctx, reason)
	})
	route(s, forOperators(huma.Operation{
		OperationID: "resume", Method: http.MethodPost, Path: "/v1/admin/resume", Tags: tags, Summary: "Go on with physical deletion",
		Description: "What was accepted meanwhile is published now.", Errors: readErrors(),
	}), func(ctx context.Context, _ *struct{}) (*struct{}, error) { return nil, s.cfg.Dependency.Resume(ctx) })
}
