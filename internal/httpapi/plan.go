package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// planTimeout is the time beyond the usual that looking into the stores may take: for thousands of assets, or hundreds of
// thousands of objects. A store that does not answer is noticed in the usual time.
const planTimeout = 10 * time.Minute

// isPlan tells whether the request is for a plan.
func isPlan(r *http.Request) bool {
	path, ok := strings.CutPrefix(r.URL.RawPath, "/v1/assets/")
	_, call, _ := strings.Cut(path, "/")
	return ok && r.Method == http.MethodPost && call == "plan"
}

// planBody says what the plan depends on.
type planBody struct {
	WithDependants bool `json:"with_dependants,omitempty" doc:"Take along what depends on it."`
	GraphOnly      bool `json:"graph_only,omitempty" doc:"Ask no store: without documents, objects, bytes and hash."`
}

type planIn struct {
	ID   assetID   `path:"id"`
	Body *planBody `required:"false"`
}

type planOut struct {
	Body dependency.Plan
}

// planRoute tells what a deletion would take.
func (s *server) planRoute() {
	route(s, huma.Operation{
		OperationID: "plan-deletion", Method: http.MethodPost, Path: "/v1/assets/{id}/plan", Tags: []string{"deletions"},
		Summary: "Tell what a deletion would take",
		Description: "Looks afresh into the graph and the stores, and changes nothing. The hash goes into If-Plan of the deletion, which is refused" +
			" when assets, links to detach or object versions are others by then.",
		Errors: append(readErrors(), http.StatusConflict, http.StatusServiceUnavailable),
	}, func(ctx context.Context, in *planIn) (*planOut, error) {
		var r dependency.PlanRequest
		if in.Body != nil {
			r.WithDependants, r.GraphOnly = in.Body.WithDependants, in.Body.GraphOnly
		}
		p, err := s.cfg.Dependency.Plan(ctx, string(in.ID), r)
		p.Assets, p.Links, p.Documents, p.Objects = filled(p.Assets), filled(p.Links), filled(p.Documents), filled(p.Objects)
		p.Blockers, p.Kept = filled(p.Blockers), filled(p.Kept)
		return &planOut{Body: p}, err
	})
}
