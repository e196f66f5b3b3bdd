package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestVerify(t *testing.T) {
	s := serve(t)
	create(t, s, "a")
	if got := tombstone(t, "verify").done().stdout; got != "no violations among 1 asset\n" {
		t.Errorf("sound: %q", got)
	}
	s.Violate(dependency.Violation{Guarantee: "G3", Asset: "a", Part: "payload", Deletion: "d-1", Found: "there lies\x1b a version", Do: "erase it"},
		dependency.Violation{Guarantee: "G8", Owner: "acme", Found: "drift", Do: "report it"})
	r := tombstone(t, "verify").fails(exitFailed, "2 violations of the guarantees")
	want := "GUARANTEE  ASSET       PART     DELETION  FOUND                       WHAT TO DO\n" +
		"G3         a           payload  d-1       there lies\\u001b a version  erase it\n" +
		"G8         owner acme  -        -         drift                       report it\n"
	if r.stdout != want {
		t.Errorf("got\n%s", r.stdout)
	}
	s.Violate()
	tombstone(t, "verify", "--since", "2026-03-01T13:00:00+01:00").done()
	tombstone(t, "verify", "--since", "24h").done()
	asked := s.Verified()
	if at := asked[len(asked)-2].Since; !at.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("since %v", at)
	}
	if ago := time.Since(*asked[len(asked)-1].Since); ago < 24*time.Hour || ago > 25*time.Hour {
		t.Errorf("since %v ago", ago)
	}
	tombstone(t, "verify", "--since", "yesterday").fails(exitUsage, "--since")
	s.Violate(dependency.Violation{Guarantee: "G8"})
	if r := tombstone(t, "verify", "--json"); r.code != exitFailed || !strings.Contains(r.stdout, `"guarantee":"G8"`) {
		t.Errorf("exit %d, %q", r.code, r.stdout)
	}
}
