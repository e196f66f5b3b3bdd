package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// TestRequestsOfAnOutageDoNotFloodTheLog wants one line a second, that counts the others.
func TestRequestsOfAnOutageDoNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := &server{log: slog.New(slog.NewJSONHandler(&out, nil))}
		for range 1000 {
			_ = s.documentOf(t.Context(), "a call", problem.New(problem.Unavailable, "no graph"))
		}
		time.Sleep(sparseEvery) //nolint:forbidigo // because the time is that of the bubble
		_ = s.documentOf(t.Context(), "a call", context.DeadlineExceeded)

		var lines []map[string]any
		for line := range bytes.Lines(out.Bytes()) {
			var fields map[string]any
			if err := json.Unmarshal(line, &fields); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fields)
		}
		if len(lines) != 2 || lines[0]["others"] != 0.0 || lines[1]["others"] != 999.0 {
			t.Errorf("the log has %v", lines)
		}
	})
}
