package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/tombstone-project/tombstone/services/dependency"
)

type overviewOut struct {
	Body dependency.Overview
}

// watchingRoutes tell of all deletions at once.
func (s *server) watchingRoutes() {
	tags := []string{"deletions"}
	route(s, huma.Operation{
		OperationID: "get-overview", Method: http.MethodGet, Path: "/v1/overview", Tags: tags, Summary: "Count deletions by status",
		Description: "Those that exist for the caller. Operators also get the pending flags, and what was accepted and completed in each minute of the last hour.",
		Errors:      readErrors(),
	}, func(ctx context.Context, _ *struct{}) (*overviewOut, error) {
		o, err := s.cfg.Dependency.Overview(ctx)
		return &overviewOut{Body: o}, err
	})
	changes := &huma.Response{Description: "Changes, a JSON object each", Content: map[string]*huma.MediaType{
		eventStreamType: {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[dependency.Change](), true, "Change")},
	}}
	route(s, huma.Operation{
		OperationID: "follow-deletions", Method: http.MethodGet, Path: "/v1/deletions" + eventsSuffix, Tags: tags, Summary: "Follow all deletions",
		Description: "Server-sent events: each deletion that changes from now on, and as it is then; those of the last seconds come too.",
		Responses:   map[string]*huma.Response{"200": changes}, Errors: readErrors(),
	}, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humachi.Unwrap(hc)
			s.streamChanges(w, r)
		}}, nil
	})
}

// streamChanges streams the changes that the caller of the request may see, until either side leaves.
func (s *server) streamChanges(w http.ResponseWriter, r *http.Request) {
	stream := newEventStream(w, s.cfg.RequestTimeout)
	if r.Method == http.MethodHead || stream.begin() != nil {
		return
	}
	ctx, stop := untilServerEnds(r.Context())
	defer stop()
	err := stream.during(ctx, func(ctx context.Context) error {
		return s.cfg.Dependency.Changes(ctx, func(c dependency.Change) error { return stream.send(c) })
	})
	if ctx.Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errReaderLeft) {
		s.log.WarnContext(ctx, "events of all deletions ended early", "error", err)
	}
}
