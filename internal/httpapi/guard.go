package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	// apiPrefix begins the path of every call that needs a caller.
	apiPrefix = "/v1/"
	// searchTimeout bounds a walk over the whole graph.
	searchTimeout = time.Hour
	// importTimeout bounds an import as a whole.
	importTimeout = 6 * time.Hour
)

// guard lets API calls in: the caller first, then the form of the query; and it bounds their time.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.RawPath, apiPrefix) {
			next.ServeHTTP(w, r)
			return
		}
		caller, err := s.cfg.Auth.Authenticate(r)
		if err != nil {
			writeProblem(w, s.refusalOf(r, err))
			return
		}
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			writeProblem(w, problem.New(problem.InvalidRequest, "the query is not well formed: %s", err).At("query"))
			return
		}
		ctx, cancel := context.WithTimeout(dependency.WithCaller(r.Context(), caller), s.timeout(r))
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refusalOf is the refusal in an authenticator's error.
func (s *server) refusalOf(r *http.Request, err error) *problem.Problem {
	if p := problem.As(err); p != nil {
		return p
	}
	s.log.ErrorContext(r.Context(), "authentication failed", "error", err)
	return problem.New(problem.Internal, "the caller could not be authenticated")
}

// timeout is the time for the whole request.
func (s *server) timeout(r *http.Request) time.Duration {
	switch {
	case isImport(r):
		return importTimeout
	case isFollow(r):
		return followTimeout
	case isSearch(r):
		return searchTimeout
	case isVerify(r):
		return verifyTimeout
	case isPlan(r):
		return s.cfg.RequestTimeout + planTimeout
	case r.Method == http.MethodDelete && r.Header.Get("If-Plan") != "":
		return s.cfg.RequestTimeout + planTimeout + preferredWait(r.Header.Values("Prefer"))
	case r.Method == http.MethodDelete:
		return s.cfg.RequestTimeout + preferredWait(r.Header.Values("Prefer"))
	}
	return s.cfg.RequestTimeout
}

// isSearch tells calls that look at everything there is.
func isSearch(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.RawPath == retentionPath || r.URL.RawPath == sweepPath)
}

func isImport(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.RawPath == importPath
}
