package policy

import (
	"math"
	"testing"
	"time"
)

// H-06.
func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "-0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30d": 720 * time.Hour, "1d12h": 36 * time.Hour,
		"1.5d": 36 * time.Hour, "-1h": -time.Hour, "-1d1h": -25 * time.Hour, "2us": 2 * time.Microsecond, "2µs": 2 * time.Microsecond,
		"106751d": 106751 * day,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q: want %v, got %v, %v", text, want, got, err)
		}
	}
	for _, text := range []string{"", "-", "d", "1", "1.", "+1h", "1h-5m", "--1h", "1 h", "1h ", "1w", "1..5h", "106752d", "1e3s", "١s", "1m1"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is no duration, got %v", text, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1000": 1000, "7B": 7, "500MB": 5e8, "500 MB": 5e8, "10GiB": 10 << 30, "1kB": 1000, "1KiB": 1024, "8191PiB": 8191 << 50,
		"9223372036854775807": math.MaxInt64,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: want %d, got %d, %v", text, want, got, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "1.5GiB", "1gib", "1 0", "8192PiB", "9223372036854775808", "10%"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is no size, got %d", text, got)
		}
	}
}

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", time.Minute: "1m", time.Hour: "1h", 90 * time.Second: "1m30s", 24 * time.Hour: "24h", time.Millisecond: "1ms"} {
		if got := durationText(d); got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"default_ttl", "max_ttl", "margin"}
	for written, want := range map[string]string{"max_tll": "max_ttl", "maxttl": "max_ttl", "margins": "margin", "lifetime": "", "amrgin": "margin", "magrni": "margin", "": "", "default": ""} {
		if got := Nearest(written, names); got != want {
			t.Errorf("%q: want %q, got %q", written, want, got)
		}
	}
}
