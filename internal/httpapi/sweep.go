package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const sweepPath = "/v1/admin/sweep"

type findingsOut struct {
	Body dependency.Findings
}

// sweepRoute removes what belongs to nobody.
func (s *server) sweepRoute() {
	route(s, forOperators(huma.Operation{
		OperationID: "sweep", Method: http.MethodPost, Path: sweepPath, Tags: []string{"operations"},
		Summary: "Find orphans in the stores, and remove them",
		Description: "Looks through every bucket and collection at the places of the policy for what belongs to no asset and is older than `sweep.min_age`, " +
			"and through the graph for assets whose documents are missing. Without `apply` nothing changes. With it the deletion of the orphans begins " +
			"in the background, by the actor `sweep`. 409 empty-graph, graph-behind or listing-failed: nothing was removed.",
		Errors: append(readErrors(), http.StatusConflict),
	}), func(ctx context.Context, in *searchIn) (*findingsOut, error) {
		found, err := s.cfg.Dependency.Sweep(ctx, in.Body.Apply)
		found.Candidates, found.ExceedsShare = filled(found.Candidates), filled(found.ExceedsShare)
		return &findingsOut{Body: found}, err
	})
}
