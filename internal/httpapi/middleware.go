package httpapi

import (
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/tombstone-project/tombstone/problem"
)

// keepEscapedPath makes the router and the parameters work on the path as it was sent, so that %2F in an id is not a
// border between segments. Where the server has no raw path, the usual escaping gives back what was sent.
func keepEscapedPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawPath == "" {
			r.URL.RawPath = r.URL.EscapedPath()
		}
		next.ServeHTTP(w, r)
	})
}

// safeHeaders keeps answers out of caches and from being taken for something else.
func safeHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// refuseForeignPages refuses changes that a browser sends on behalf of a page from elsewhere: where no token is needed, such
// a page would act with the rights of whoever looks at it.
func refuseForeignPages(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, problem.New(problem.Forbidden, "a page from another origin may not change anything here").At("Origin"))
	}))
	return protection.Handler(next)
}

// recoverPanics turns a panic into 500 without details. A connection that broke while the answer was written is no fault.
func (s *server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			fault := recover()
			if fault == nil {
				return
			}
			if err, ok := fault.(error); r.Context().Err() != nil || ok && errors.Is(err, http.ErrAbortHandler) {
				panic(http.ErrAbortHandler)
			}
			s.log.ErrorContext(r.Context(), "request panicked", "method", r.Method, "path", r.URL.Path, "fault", fault, "stack", string(debug.Stack()))
			writeProblem(w, problem.New(problem.Internal, "this is a fault of the service; its log tells more"))
		}()
		next.ServeHTTP(w, r)
	})
}

func (s *server) notFound(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, problem.New(problem.NotFound, "there is no such call; /openapi.json lists all. Ids in paths are percent-encoded, / as %%2F"))
}

// methodNotAllowed names the methods that the path has.
func (s *server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range methods {
		if s.mux.Match(chi.NewRouteContext(), method, r.URL.RawPath) {
			allowed = append(allowed, method)
		}
	}
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeProblem(w, problem.New(problem.MethodNotAllowed, "this path takes %s", strings.Join(allowed, ", ")))
}
