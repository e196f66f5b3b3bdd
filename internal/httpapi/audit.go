package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

type auditIn struct {
	Asset  string    `query:"asset" doc:"Whose trail; the asset may be gone long since. Without it: the trails of all assets, in order of time."`
	Since  time.Time `query:"since" doc:"Only entries of this time and later (RFC 3339). Goes without asset."`
	Cursor cursor    `query:"cursor" doc:"next_cursor of the page before."`

	one bool // asset was given
}

// Resolve checks the id, and that since stands alone.
func (in *auditIn) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	if in.one = u.Query().Has("asset"); !in.one {
		return nil
	}
	if !in.Since.IsZero() {
		return []error{problem.New(problem.InvalidRequest, "since goes without asset: the trail of one asset begins with its first entry").At("since")}
	}
	if err := checkID("asset", in.Asset); err != nil {
		return []error{err}
	}
	return nil
}

type auditOut struct {
	Body dependency.Page[dependency.AuditItem]
}

// auditRoute is the audit trail, of one asset or of all.
func (s *server) auditRoute() {
	route(s, forOperators(huma.Operation{
		OperationID: "list-audit", Method: http.MethodGet, Path: "/v1/admin/audit", Tags: []string{"operations"},
		Summary: "List the audit trail of an asset over all its generations, or of all assets, oldest first", Errors: readErrors(),
	}), func(ctx context.Context, in *auditIn) (*auditOut, error) {
		var page dependency.Page[dependency.AuditItem]
		var err error
		if in.one {
			page, err = s.cfg.Dependency.Audit(ctx, in.Asset, string(in.Cursor))
		} else {
			page, err = s.cfg.Dependency.AuditAll(ctx, in.Since, string(in.Cursor))
		}
		page.Items = filled(page.Items)
		return &auditOut{Body: page}, err
	})
}
