package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	// followTimeout bounds how long one request follows a deletion; browsers come back by themselves.
	followTimeout = 24 * time.Hour
	// eventsSuffix ends the path of a request that follows a deletion.
	eventsSuffix = "/events"
)

// isFollow tells whether a request follows a deletion, or all; its answer lasts as long as that does.
func isFollow(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.RawPath, "/v1/deletions/") && strings.HasSuffix(r.URL.RawPath, eventsSuffix)
}

// followRoute is a deletion's audit trail as it grows.
func (s *server) followRoute() {
	events := &huma.Response{Description: "Audit entries, a JSON object each, as in /v1/admin/audit", Content: map[string]*huma.MediaType{
		eventStreamType: {Schema: &huma.Schema{Type: huma.TypeString}},
	}}
	route(s, huma.Operation{
		OperationID: "follow-deletion", Method: http.MethodGet, Path: "/v1/deletions/{did}" + eventsSuffix, Tags: []string{"deletions"},
		Summary:     "Follow a deletion",
		Description: "Server-sent events: the entries of its audit trail, those that are there already first. The stream ends after the deletion has.",
		Responses:   map[string]*huma.Response{"200": events}, Errors: readErrors(),
	}, s.follow)
}

// follow answers refusals as usual, and then streams.
func (s *server) follow(ctx context.Context, in *oneDeletionIn) (*huma.StreamResponse, error) {
	id := string(in.Deletion)
	if _, err := s.cfg.Dependency.Deletion(ctx, id, ""); err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humachi.Unwrap(hc)
		stream := newEventStream(w, s.cfg.RequestTimeout)
		if r.Method == http.MethodHead || stream.begin() != nil {
			return
		}
		ctx, stop := untilServerEnds(r.Context())
		defer stop()
		err := stream.during(ctx, func(ctx context.Context) error {
			return s.cfg.Dependency.Follow(ctx, id, func(item dependency.AuditItem) error { return stream.send(item) })
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errReaderLeft) {
			s.log.WarnContext(ctx, "events of a deletion ended early", "deletion", id, "error", err)
		}
	}}, nil
}
