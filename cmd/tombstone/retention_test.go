package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestRetention(t *testing.T) {
	s := serve(t)
	if got := tombstone(t, "retention").done().stdout; got != "nothing has expired\n" {
		t.Errorf("got %q", got)
	}
	oldest := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	found := dependency.Expired{
		Findings: dependency.Findings{Total: 12, Bytes: 70},
		Groups:   []dependency.ExpiredGroup{{Kind: "check", Part: "raw", Owner: "ac\nme", Total: 11}, {Kind: "mesh", Owner: "acme", Total: 1, Bytes: 70}},
		Left:     dependency.Left{Held: 1, Dependants: 2}, Oldest: &oldest,
	}
	s.Expire(found)
	const rows = "KIND   PART  OWNER       EXPIRED  BYTES\ncheck  raw   ac\\u000ame  11       -\nmesh   -     acme        1        70\n" +
		"12 candidates, the oldest since 2026-03-01T12:00:00Z; "
	const left = "\nleft alone: 1 on hold, 2 that others need\n"
	if got, want := tombstone(t, "retention").done().stdout, rows+"nothing was changed, --apply lets them go"+left; got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	if got, want := tombstone(t, "retention", "--apply").done().stdout, rows+"their deletion has begun"+left; got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	if got := tombstone(t, "retention", "--json").done().values(); len(got) != 1 || got[0]["total"] != 12.0 || got[0]["applied"] != false {
		t.Errorf("--json: %v", got)
	}
	found.ExceedsShare = []dependency.OwnerShare{{Owner: "acme", Candidates: 2, Live: 3}}
	s.Expire(found)
	const tooMuch = "too much at once: 2 of 3 live assets of owner acme; --apply is refused; if that is right, raise limits.max_share_per_owner in the policy and start the service again\n"
	if got, want := tombstone(t, "retention").done().stdout, rows+"nothing was changed"+left+tooMuch; got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	tombstone(t, "retention", "--apply").fails(exitFailed, "share-exceeded")
}

func TestSweep(t *testing.T) {
	s := serve(t)
	tombstone(t, "sweep").fails(exitFailed, "empty-graph")
	create(t, s, "a")
	if got := tombstone(t, "sweep").done().stdout; got != "there is no orphan\n" {
		t.Errorf("got %q", got)
	}
	s.Orphan(dependency.Findings{Candidates: []dependency.Candidate{{Asset: "b\n", Part: "raw", Place: "assets/raw/b/", Reason: "old", Bytes: 7}, {Asset: "c", Part: "note", Reason: "missing"}},
		Total: 3, Bytes: 7})
	const rows = "ASSET    PART  PLACE          BYTES  WHY\nb\\u000a  raw   assets/raw/b/  7      old\nc        note  -              0      missing\nand 1 more\n3 candidates, 7 bytes; "
	if got, want := tombstone(t, "sweep").done().stdout, rows+"nothing was changed, --apply removes orphans\n"; got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	if got, want := tombstone(t, "sweep", "--apply").done().stdout, rows+"the deletion of orphans has begun\n"; got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	if got := tombstone(t, "sweep", "--json").done().values(); len(got) != 1 || got[0]["total"] != 3.0 {
		t.Errorf("--json: %v", got)
	}
	s.Orphan(dependency.Findings{Candidates: []dependency.Candidate{{Asset: "c", Part: "note", Reason: "old"}}, Total: 1,
		ExceedsShare: []dependency.OwnerShare{{Owner: "acme", Candidates: 1, Live: 1}}})
	const refused = "1 candidate, 0 bytes; nothing was changed\ntoo much at once: 1 of 1 live assets of owner acme; --apply is refused"
	if got := tombstone(t, "sweep").done().stdout; !strings.Contains(got, refused) {
		t.Errorf("want %q in\n%s", refused, got)
	}
}
