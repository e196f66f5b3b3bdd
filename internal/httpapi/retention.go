package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const retentionPath = "/v1/admin/retention"

// searchBody says whether what a search finds is to go.
type searchBody struct {
	Apply bool `json:"apply,omitempty" doc:"false: only look."`
}

type searchIn struct {
	Body searchBody
}

type expiredOut struct {
	Body dependency.Expired
}

// retentionRoute lets go what has expired.
func (s *server) retentionRoute() {
	route(s, forOperators(huma.Operation{
		OperationID: "retention", Method: http.MethodPost, Path: retentionPath, Tags: []string{"operations"},
		Summary: "Find what has expired by the policy, and let it go",
		Description: "Without `apply` nothing changes. With it the deletion of what was found begins in the background, by the actor `retention`; " +
			"each asset is looked at again before it goes. It also confirms the policy, so that further runs come by themselves.",
		Errors: append(readErrors(), http.StatusConflict),
	}), func(ctx context.Context, in *searchIn) (*expiredOut, error) {
		found, err := s.cfg.Dependency.Retention(ctx, in.Body.Apply)
		found.Candidates, found.Groups, found.ExceedsShare = filled(found.Candidates), filled(found.Groups), filled(found.ExceedsShare)
		return &expiredOut{Body: found}, err
	})
}
