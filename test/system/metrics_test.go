package system

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// metrics reads /metrics: value by name with labels.
func (s *System) metrics() map[string]float64 {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	values := map[string]float64{}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		line := lines.Text()
		i := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(line[i+1:], 64); err == nil && !strings.HasPrefix(line, "#") {
			values[line[:i]] = value
		}
	}
	return values
}

// measured waits until metrics have these values.
func (s *System) measured(want map[string]float64) {
	s.t.Helper()
	Eventually(s.t, "metrics", func() error {
		got := s.metrics()
		for name, value := range want {
			if v, ok := got[name]; !ok || v != value {
				return fmt.Errorf("%s is %v (there: %v), want %v", name, v, ok, value)
			}
		}
		return nil
	})
}

func TestMetricsTellWhatHappened(t *testing.T) {
	sys := Start(t, Embedded(t), app.All)
	sys.measured(map[string]float64{`tombstone_deletions_total{result="deleted"}`: 0, "tombstone_pending_flags": 0, "tombstone_dead_letters_total": 0})
	var bytes int64
	for i := range 3 {
		sys.Fill(sys.Create("mesh", fmt.Sprint("m", i)))
		for _, step := range sys.Finish(fmt.Sprint("m", i)).Steps {
			bytes += step.Bytes
		}
	}
	sys.Finish("m0") // again: the same deletion
	sys.Create("slow", "s")
	d, err := sys.Delete(t.Context(), "s", dependency.DeleteRequest{})
	if err == nil {
		_, err = sys.Cancel(t.Context(), d.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	sys.measured(map[string]float64{
		`tombstone_deletions_total{result="deleted"}`: 3, `tombstone_deletions_total{result="cancelled"}`: 1,
		"tombstone_deletion_duration_seconds_count": 3, "tombstone_accept_duration_seconds_count": 5,
		"tombstone_erased_bytes_total": float64(bytes), "tombstone_pending_flags": 0, "tombstone_oldest_pending_seconds": 0,
		"tombstone_oldest_incomplete_seconds": 0, "tombstone_stalled": 0, "tombstone_dead_letters_total": 0,
	})
	if bytes == 0 {
		t.Error("no bytes were erased")
	}
}
