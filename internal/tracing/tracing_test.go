package tracing_test

import (
	"log/slog"
	"testing"

	"github.com/tombstone-project/tombstone/internal/tracing"
)

func TestTracesAreOffUnlessTheSettingsNameAPlaceForThem(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, c := range []struct {
		name     string
		settings map[string]string
		on, bad  bool
	}{
		{"nothing is set", nil, false, false},
		{"an endpoint", map[string]string{endpoint: "http://127.0.0.1:4318"}, true, false},
		{"an endpoint for traces", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, true, false},
		{"the usual endpoint", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, false},
		{"an empty endpoint", map[string]string{endpoint: ""}, false, false},
		{"disabled", map[string]string{endpoint: "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"}, false, false},
		{"no exporter", map[string]string{endpoint: "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "none"}, false, false},
		{"another exporter", map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false, true},
		{"another protocol", map[string]string{endpoint: "http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, value := range c.settings {
				t.Setenv(name, value)
			}
			lookup := func(name string) (string, bool) { v, ok := c.settings[name]; return v, ok }
			tracer, err := tracing.Start(t.Context(), lookup, "test", slog.New(slog.DiscardHandler))
			if (err != nil) != c.bad || (tracer != nil) != c.on {
				t.Errorf("on: %v, %v", tracer != nil, err)
			}
			if err := tracer.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
