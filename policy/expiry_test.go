package policy

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// rule reads the retention of a policy as it is written there.
func rule(t *testing.T, text string) (*Retention, error) {
	t.Helper()
	p, err := Parse("policy.yaml", []byte("kinds: {item: {retention: "+text+"}}"))
	if err != nil {
		return nil, err
	}
	return p.Kinds["item"].Retention, nil
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// H-71: a retention of nothing keeps, it never means "older than now".
func TestAgesThatMeanNever(t *testing.T) {
	old := Aged{CreatedAt: time.Unix(0, 0), UpdatedAt: time.Unix(0, 0)}
	for _, text := range []string{"{after: 0}", "{after: 0d}", "{after: 0s}", "{after: -1h}", "{after: -1d}", "{after: -0}"} {
		r, err := rule(t, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if at, ok := r.ExpiresAt(old); ok {
			t.Errorf("%s expires at %s", text, at)
		}
	}
	if at, ok := (*Retention)(nil).ExpiresAt(old); ok {
		t.Errorf("no retention expires at %s", at)
	}
	for _, text := range []string{`{after: ""}`, "{after: }", "{after: ~}", "{after: -1}", "{after: 7}", "{after: 1e9d}", "{after: 106752d}", "{after: [7d]}", "{}"} {
		if r, err := rule(t, text); err == nil {
			t.Errorf("%s is refused by nobody: %+v", text, r)
		}
	}
	r, err := rule(t, "{after: 7d}")
	if err != nil {
		t.Fatal(err)
	}
	at, ok := r.ExpiresAt(Aged{CreatedAt: moment(t, "2026-01-01T00:00:00Z")})
	if want := moment(t, "2026-01-08T00:00:00Z"); !ok || !at.Equal(want) {
		t.Errorf("7d: want %s, got %s, %t", want, at, ok)
	}
}

// H-72: an age is elapsed time, whatever the clocks of people do meanwhile.
func TestAgesKnowNoCalendar(t *testing.T) {
	r, err := rule(t, "{after: 7d}")
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for created, want := range map[string]string{
			"2026-03-25T12:00:00Z": "2026-04-01T12:00:00Z", // Berlin: a day of 23 hours
			"2026-10-20T12:00:00Z": "2026-10-27T12:00:00Z", // and one of 25
			"2026-03-05T07:30:00Z": "2026-03-12T07:30:00Z", // New York
			"2011-12-28T10:30:00Z": "2012-01-04T10:30:00Z", // Apia leaves a day out
		} {
			at, ok := r.ExpiresAt(Aged{CreatedAt: moment(t, created).In(place)})
			if !ok || !at.Equal(moment(t, want)) || at.Location() != time.UTC {
				t.Errorf("%s in %s: want %s, got %s, %t", created, zone, want, at, ok)
			}
		}
	}
}

func TestClocks(t *testing.T) {
	a := Aged{CreatedAt: moment(t, "2026-01-01T00:00:00Z"), UpdatedAt: moment(t, "2026-02-01T00:00:00Z"), Attributes: map[string]any{
		"done_at": "2026-03-01T00:00:00+02:00", "exact": "2026-03-01T00:00:00.123456Z", "day": "2026-03-01", "empty": "", "number": 1772323200.0, "none": nil,
		"deleted.at": "2025-01-01T00:00:00Z",
	}}
	for clock, want := range map[string]string{
		"created_at": "2026-01-02T00:00:00Z", "updated_at": "2026-02-02T00:00:00Z", "attributes.done_at": "2026-03-01T22:00:00Z",
		"attributes.exact": "2026-03-02T00:00:00.123456Z", "attributes.deleted.at": "2025-01-02T00:00:00Z",
		"attributes.day": "", "attributes.empty": "", "attributes.number": "", "attributes.none": "", "attributes.missing": "",
	} {
		r, err := rule(t, fmt.Sprintf("{after: 1d, clock: %s}", clock))
		if err != nil {
			t.Fatal(err)
		}
		at, ok := r.ExpiresAt(a)
		switch {
		case want == "" && ok:
			t.Errorf("%s: expires at %s without a time to count from", clock, at)
		case want != "" && (!ok || !at.Equal(moment(t, want))):
			t.Errorf("%s: want %s, got %s, %t", clock, want, at, ok)
		}
	}
	for _, clock := range []string{"created_at", "updated_at"} {
		if at, ok := (&Retention{After: time.Hour, Clock: clock}).ExpiresAt(Aged{}); ok {
			t.Errorf("%s that is not known expires at %s", clock, at)
		}
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		when       string
		attributes map[string]any
		want       bool
	}{
		{"{state: [done, failed]}", map[string]any{"state": "done"}, true},
		{"{state: [done, failed]}", map[string]any{"state": "failed", "more": 1.0}, true},
		{"{state: [done, failed]}", map[string]any{"state": "Done"}, false},
		{"{state: [done, failed]}", map[string]any{"state": []any{"done"}}, false},
		{"{state: [done, failed]}", map[string]any{}, false},
		{"{state: [done]}", nil, false},
		{"{state: [done], tries: [3]}", map[string]any{"state": "done", "tries": 3.0}, true},
		{"{state: [done], tries: [3]}", map[string]any{"state": "done", "tries": 2.0}, false},
		{"{tries: [3]}", map[string]any{"tries": "3"}, true},
		{"{share: [0.50]}", map[string]any{"share": 0.5}, true},
		{"{share: [0.50]}", map[string]any{"share": math.NaN()}, false},
		{"{final: [true]}", map[string]any{"final": true}, true},
		{"{final: [true]}", map[string]any{"final": false}, false},
		{"{final: ['']}", map[string]any{"final": ""}, true},
		{"{final: ['']}", map[string]any{}, false},
	} {
		r, err := rule(t, "{after: 1d, when: "+c.when+"}")
		if err != nil {
			t.Fatal(err)
		}
		if _, got := r.ExpiresAt(Aged{CreatedAt: time.Unix(0, 0), Attributes: c.attributes}); got != c.want {
			t.Errorf("%s with %v: want %t, got %t", c.when, c.attributes, c.want, got)
		}
	}
}

func TestRetentionText(t *testing.T) {
	for text, want := range map[string]string{"720h": "30d", "36h": "36h", "90m": "1h30m", "1d": "1d", "3s": "3s"} {
		if r, err := rule(t, "{after: "+text+"}"); err != nil || r.Text() != want {
			t.Errorf("%s: want %s, got %v, %v", text, want, r, err)
		}
	}
}

func TestExpires(t *testing.T) {
	for kind, want := range map[string]bool{
		"{}":                        false,
		"{retention: {after: 0}}":   false,
		"{retention: {after: -1h}}": false,
		"{retention: {after: 1h}}":  true,
		"{parts: {p: {document: {collection: c}, retention: {after: 0}}}}":  false,
		"{parts: {p: {document: {collection: c}, retention: {after: 1h}}}}": true,
	} {
		p, err := Parse("policy.yaml", []byte("kinds: {item: "+kind+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Kinds["item"].Expires(); got != want {
			t.Errorf("%s: want %t, got %t", kind, want, got)
		}
	}
}
