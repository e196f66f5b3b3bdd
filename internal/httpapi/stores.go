package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/events"
)

type storesOut struct {
	Body events.StoresView
}

// storesRoute looks at the stores of the asset service, for `tombstone doctor`.
func (s *server) storesRoute() {
	route(s, forOperators(huma.Operation{
		OperationID: "look-at-stores", Method: http.MethodGet, Path: "/v1/admin/stores", Tags: []string{"operations"},
		Summary:     "How the buckets of the policy keep what they hold, and what is not as the policy needs it",
		Description: "Asked of the stores now. A finding that is `fatal` would stop the next start of the asset service, which is asked wherever it runs: 503 when none answers.",
		Errors:      readErrors(),
	}), func(ctx context.Context, _ *struct{}) (*storesOut, error) {
		found, err := s.cfg.Stores.Stores(ctx)
		found.Buckets, found.Findings = filled(found.Buckets), filled(found.Findings)
		return &storesOut{Body: found}, err
	})
}
