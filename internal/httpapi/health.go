package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
)

// checkTimeout bounds one look at one store.
const checkTimeout = 3 * time.Second

// Check tells whether one store answers.
type Check struct {
	// Name of the store, as operators know it: "graph", "documents", "blobs", "broker".
	Name string
	// Ping returns nil when the store answers.
	Ping func(ctx context.Context) error
}

// Answers of one check.
const (
	checkOK   = "ok"
	checkDown = "does not answer"
)

// healthRoutes tell whether the process lives, and whether its stores answer. They need no caller.
func (s *server) healthRoutes() {
	s.mux.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"status": checkOK})
	})
	s.mux.Get("/readyz", s.ready)
	s.mux.Method(http.MethodGet, "/metrics", s.cfg.Metrics)
	describe := func(path, summary, media string) {
		s.api.OpenAPI().AddOperation(&huma.Operation{
			OperationID: "get" + strings.ReplaceAll(path, "/", "-"), Method: http.MethodGet, Path: path, Tags: []string{"health"}, Summary: summary,
			Security:  []map[string][]string{},
			Responses: map[string]*huma.Response{"200": {Description: http.StatusText(http.StatusOK), Content: map[string]*huma.MediaType{media: {}}}},
		})
	}
	describe("/healthz", "Whether the process lives", "application/json")
	describe("/readyz", "Whether every store answers; 503 names those that do not", "application/json")
	describe("/metrics", "Metrics for Prometheus", "text/plain")
}

// ready answers 200 with every check, or 503 naming the stores that do not answer.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	checks := s.look(r.Context())
	var down []string
	for _, c := range s.cfg.Checks {
		if checks[c.Name] != checkOK {
			down = append(down, c.Name)
		}
	}
	if len(down) > 0 {
		writeProblem(w, problem.New(problem.Unavailable, "not ready: %s: %s", strings.Join(down, ", "), checkDown).With("checks", checks))
		return
	}
	writeJSON(w, map[string]any{"status": checkOK, "checks": checks})
}

// look runs all checks side by side.
func (s *server) look(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, min(checkTimeout, s.cfg.RequestTimeout))
	defer cancel()
	answers := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, c := range s.cfg.Checks {
		all.Go(func() {
			answer := checkOK
			err := c.Ping(ctx)
			if err != nil {
				answer = checkDown
			}
			s.noteCheck(c.Name, err)
			mu.Lock()
			defer mu.Unlock()
			answers[c.Name] = answer
		})
	}
	all.Wait()
	return answers
}

// noteCheck tells the log of a store that it does not answer, and that it does again: not at each probe.
func (s *server) noteCheck(store string, err error) {
	s.checked.Lock()
	defer s.checked.Unlock()
	switch was := s.down[store]; {
	case err != nil && !was:
		s.log.Warn("store does not answer", "store", store, "error", err)
	case err == nil && was:
		s.log.Info("store answers again", "store", store)
	}
	s.down[store] = err != nil
}

// writeJSON answers 200.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
