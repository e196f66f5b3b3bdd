package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

type auditIn struct {
	Asset  assetID `query:"asset" required:"true" doc:"Whose trail; the asset may be gone long since."`
	Cursor cursor  `query:"cursor" doc:"next_cursor of the page before."`
}

type auditOut struct {
	Body dependency.Page[dependency.AuditItem]
}

// auditRoute is the audit trail of one asset.
func (s *server) auditRoute() {
	route(s, forOperators(huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: "/v1/admin/audit", Tags: []string{"operations"},
		Summary: "List the audit trail of an asset, oldest first, over all its generations", Errors: readErrors(),
	}), func(ctx context.Context, in *auditIn) (*auditOut, error) {
		page, err := s.cfg.Dependency.Audit(ctx, string(in.Asset), string(in.Cursor))
		page.Items = filled(page.Items)
		return &auditOut{Body: page}, err
	})
}
