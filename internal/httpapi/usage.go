package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

type usageIn struct {
	Owner assetID `path:"owner" doc:"An owner, with the form of an id."`
}

type usageOut struct {
	Body dependency.UsageView
}

// usageRoute is what an owner uses.
func (s *server) usageRoute() {
	route(s, huma.Operation{
		OperationID: "get-usage", Method: http.MethodGet, Path: "/v1/owners/{owner}/usage", Tags: []string{"owners"},
		Summary: "Tell what an owner uses and may use", Errors: readErrors(),
	}, func(ctx context.Context, in *usageIn) (*usageOut, error) {
		used, err := s.cfg.Dependency.Usage(ctx, string(in.Owner))
		return &usageOut{Body: used}, err
	})
}
