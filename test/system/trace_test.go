package system

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// traces is a collector that speaks OTLP over HTTP.
type traces struct {
	mu   sync.Mutex
	raw  bytes.Buffer
	list []*spans.Span
}

// collect starts a collector and points OpenTelemetry's settings at it.
func collect(t *testing.T) *traces {
	t.Helper()
	c := &traces{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	return c
}

func (c *traces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(r.URL.Path, err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(body)
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.list = append(c.list, scope.GetSpans()...)
		}
	}
}

// of gives the spans of a trace.
func (c *traces) of(trace string) (list []*spans.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.list {
		if hex.EncodeToString(s.GetTraceId()) == trace {
			list = append(list, s)
		}
	}
	return list
}

// wants waits for spans of these names in a trace.
func (c *traces) wants(t *testing.T, trace string, names ...string) {
	t.Helper()
	Eventually(t, "spans", func() error {
		var there []string
		for _, s := range c.of(trace) {
			there = append(there, s.GetName())
		}
		for _, name := range names {
			if !slices.Contains(there, name) {
				return fmt.Errorf("no span %q among %q", name, there)
			}
		}
		return nil
	})
}

const (
	trace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent = "00f067aa0ba902b7"
)

var hops = []string{
	"DELETE /v1/assets/{id}", "graph update", "publish tombstone.erase.v1", "handle tombstone.erase.v1", "gate ask", "ledger open", "documents look",
	"documents delete", "objects list", "objects delete", "ledger done", "publish tombstone.asset.erased.v1", "handle tombstone.asset.erased.v1",
}

func TestADeletionIsOneTraceThroughEveryHopAndBack(t *testing.T) {
	c := collect(t)
	sys := Start(t, Embedded(t), app.All)
	sys.Fill(sys.Create("mesh", "traced"))
	d, err := sys.Delete(t.Context(), "traced", dependency.DeleteRequest{Reason: "confidential reason", TraceParent: "00-" + trace + "-" + parent + "-01"})
	if err != nil {
		t.Fatal(err)
	}
	sys.Await(d.ID)
	c.wants(t, trace, hops...)
	sys.Stop() // sends the rest
	known := map[string]string{parent: "the caller"}
	for _, s := range c.of(trace) {
		known[hex.EncodeToString(s.GetSpanId())] = s.GetName()
	}
	for _, s := range c.of(trace) {
		if known[hex.EncodeToString(s.GetParentSpanId())] == "" {
			t.Errorf("span %q hangs in the air", s.GetName())
		}
		if s.GetName() == "handle tombstone.erase.v1" && (attribute(s, "tombstone.deletion") != d.ID || attribute(s, "tombstone.asset") != "traced" ||
			known[hex.EncodeToString(s.GetParentSpanId())] != "publish tombstone.erase.v1") {
			t.Errorf("the command: %v", s)
		}
	}
	for _, content := range []string{"confidential", "of traced", "picture of"} {
		if bytes.Contains(c.raw.Bytes(), []byte(content)) {
			t.Errorf("content is in the traces: %q", content)
		}
	}
}

func TestWhatIsSentAgainAfterARestartBelongsToTheSameTrace(t *testing.T) {
	c := collect(t)
	s := Embedded(t)
	sys := Start(t, s, app.All)
	sys.Fill(sys.Create("mesh", "resent"))
	if err := sys.Pause(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	d, err := sys.Delete(t.Context(), "resent", dependency.DeleteRequest{TraceParent: "00-" + trace + "-" + parent + "-01"})
	if err != nil {
		t.Fatal(err)
	}
	sys.Stop()
	sys = Start(t, s, app.All)
	if err := sys.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	sys.Await(d.ID)
	c.wants(t, trace, hops...)
}

func TestWithoutSettingsNothingIsTraced(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	sys := Start(t, Embedded(t), app.All)
	sys.Create("bare", "untraced")
	sys.Finish("untraced")
	sys.Stop()
	if len(c.list) > 0 {
		t.Errorf("spans: %v", c.list)
	}
}

func attribute(s *spans.Span, name string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}
