package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	verifyPath = "/v1/admin/verify"
	// verifyTimeout bounds a look at every asset and every place that was erased.
	verifyTimeout = 6 * time.Hour
)

// isVerify tells the one call that may take as long as that.
func isVerify(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.RawPath == verifyPath
}

// verifyBody narrows the look.
type verifyBody struct {
	Apply bool       `json:"apply,omitempty" doc:"Erase again what lies where something was erased, where it can be nobody else's; in the background, like every erasure."`
	Since *time.Time `json:"since,omitempty" doc:"Only look whether what was erased by deletions that were completed since then is absent: after a store was restored from a backup."`
}

type verifyIn struct {
	Body *verifyBody `required:"false"`
}

type verifyOut struct {
	Body dependency.Verification
}

// verifyRoute holds the running system to its guarantees.
func (s *server) verifyRoute() {
	route(s, forOperators(huma.Operation{
		OperationID: "verify", Method: http.MethodPost, Path: verifyPath, Tags: []string{"operations"},
		Summary: "Hold the running system to its guarantees",
		Description: "Looks at every asset with its links, trail and counters, at every deletion, and at every place that was erased; changes nothing without `apply`." +
			" What goes on meanwhile is no violation: each is looked at twice, the second time while nothing about it changes.",
		Errors: readErrors(),
	}), func(ctx context.Context, in *verifyIn) (*verifyOut, error) {
		var r dependency.VerifyRequest
		if in.Body != nil {
			r.Since, r.Apply = in.Body.Since, in.Body.Apply
		}
		v, err := s.cfg.Dependency.Verify(ctx, r)
		v.Violations = filled(v.Violations)
		return &verifyOut{Body: v}, err
	})
}
