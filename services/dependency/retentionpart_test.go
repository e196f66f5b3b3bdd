package dependency_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const partsExpire = `
links: {NEEDS: {on_target_delete: restrict}}
kinds:
  check:
    parts:
      raw:    {blobs: {bucket: scans, prefix: "raw/{id}/{generation}/"}, retention: {after: 7d, when: {state: [done, failed]}}}
      report: {document: {collection: reports, key: "{id}/{generation}"}, retention: {after: 30d, clock: attributes.reported_at}}
      sbom:   {blobs: {bucket: scans, prefix: "sbom/{id}/{generation}/"}, retention: {after: 0}}
    retention: {after: 365d, clock: updated_at}
`

func TestAPartExpiresAndTheAssetStays(t *testing.T) {
	b := newRetention(t, partsExpire)
	b.putWith("check", "done", map[string]any{"state": "done"})
	b.putWith("check", "running", map[string]any{"state": "running"})
	b.putWith("check", "held", map[string]any{"state": "done"})
	b.create("check", "needs it", dependency.LinkTo{Type: "NEEDS", To: "done"}) // a part goes whatever needs the asset
	before := b.asset("done")
	if err := b.Hold(b.ctx, "held", "case 7"); err != nil {
		t.Fatal(err)
	}
	b.advance(7 * day)
	found := b.expire()
	want := []dependency.Candidate{{Asset: "done", Part: "raw", Reason: "expired at 2026-03-08T12:00:00Z, 7d after created_at"}}
	if diff := cmp.Diff(want, found.Candidates); diff != "" || found.Left.Held != 1 {
		t.Errorf("left %+v, candidates:\n%s", found.Left, diff)
	}
	if diff := cmp.Diff([]dependency.ExpiredGroup{{Kind: "check", Part: "raw", Owner: "acme", Total: 1}}, found.Groups); diff != "" {
		t.Error(diff)
	}
	d := b.deletion(b.partDeletion("done", "raw"))
	if d.RequestedBy != "retention" || !slices.Equal(d.Parts, []string{"raw"}) {
		t.Errorf("deletion: %s", pretty(d))
	}
	if got := b.expired(); got.Total != 0 {
		t.Errorf("while the part goes: %+v", got.Candidates)
	}
	b.erased(d, "done", before.Generation)
	now := b.asset("done")
	raw := now.Parts["raw"]
	if raw.Status != dependency.PartErased || raw.ErasedAt == nil || raw.Reason != want[0].Reason {
		t.Errorf("the part: %s", pretty(raw))
	}
	if now.Status != dependency.Live || now.Generation != before.Generation || now.Parts["sbom"] != before.Parts["sbom"] || now.Parts["report"] != before.Parts["report"] {
		t.Errorf("the rest: %s", pretty(now))
	}
	b.stays("running", "held", "needs it")
	if got := b.expired(); got.Total != 0 {
		t.Errorf("once it is gone: %+v", got.Candidates)
	}
	if diff := cmp.Diff([]string{events.TypeDeletionRequested, events.TypePartErased, events.TypeDeletionCompleted}, b.trail("done")); diff != "" {
		t.Error(diff)
	}
	b.advance(365 * day)
	b.expire()
	b.goes("running")
	b.stays("done", "held") // something needs the one still
}

// partDeletion finds the deletion of one part alone.
func (b *bench) partDeletion(id, part string) string {
	b.t.Helper()
	list, err := b.Deletions(b.ctx, dependency.DeletionQuery{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range list.Items {
		if d.Root == id && slices.Equal(d.Parts, []string{part}) {
			return d.ID
		}
	}
	b.t.Fatalf("no deletion of part %s of %q", part, id)
	return ""
}

// A part that was written again counts from then on, and what erases the old content does not reach the new.
func TestAReplacedPartIsNotTakenForTheOldOne(t *testing.T) {
	b := newRetention(t, partsExpire)
	b.putWith("check", "x", map[string]any{"state": "done"})
	a := b.asset("x")
	b.advance(7 * day)
	b.expire()
	first := b.deletion(b.partDeletion("x", "raw"))
	second := b.rewrite("x", "raw") // while the old content still goes
	b.erased(first, "x", a.Generation)
	if p := b.asset("x").Parts["raw"]; p.Status != dependency.PartPresent || p.Generation != second {
		t.Fatalf("what was written again: %s", pretty(p))
	}
	if got := b.expired(); got.Total != 0 {
		t.Errorf("just written: %+v", got.Candidates)
	}
	b.advance(7*day - time.Second)
	if got := b.expired(); got.Total != 0 {
		t.Errorf("six days old: %+v", got.Candidates)
	}
	b.advance(time.Second)
	found := b.expired()
	if len(found.Candidates) != 1 || found.Candidates[0].Reason != "expired at 2026-03-15T12:00:00Z, 7d after it was written again" {
		t.Fatalf("seven days old: %+v", found.Candidates)
	}
	b.expire()
	d := b.deletion(b.partDeletion("x", "raw"))
	if d.ID == first.ID || !b.wanted(d, a, "raw", second) || b.wanted(d, a, "raw", b.asset("x").Parts["raw"].Generation) {
		t.Errorf("deletion: %s", pretty(d))
	}
}

// H-47: a part that is replaced between the look and the deletion stays.
func TestAPartReplacedUnderARunStays(t *testing.T) {
	b := newRetention(t, partsExpire)
	b.putWith("check", "x", map[string]any{"state": "done"})
	b.putWith("check", "y", map[string]any{"reported_at": "2026-03-01T00:00:00Z"})
	b.advance(40 * day)
	g := &interrupted{Graph: b.graph}
	s, ran := b.replica(g, partsExpire)
	if _, err := s.Retention(b.ctx, true); err != nil {
		t.Fatal(err)
	}
	transactions := 0
	var fresh string
	g.before = func() error {
		if transactions++; transactions == 2 {
			b.delPart("x", "raw")
			fresh = b.rewrite("x", "raw")
			b.putWith("check", "y", map[string]any{"reported_at": "2026-04-09T00:00:00Z"})
		}
		return nil
	}
	if err := s.Retain(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if p := b.asset("x").Parts["raw"]; fresh == "" || p.Status != dependency.PartPresent || p.Generation != fresh {
		t.Errorf("the part that was replaced: %s", pretty(p))
	}
	if p := b.asset("y").Parts["report"]; p.Status != dependency.PartPresent {
		t.Errorf("the part whose clock was set: %s", pretty(p))
	}
	if ran.count("accepted=0 changed_meanwhile=2") != 1 {
		t.Errorf("the log says\n%s", ran.text.String())
	}
}

// A part deletion that is taken back leaves the part its age.
func TestACancelledReplacementKeepsItsAge(t *testing.T) {
	b := newRetention(t, `
kinds:
  slow:
    grace: 1h
    parts: {raw: {document: {collection: raws, key: "{id}/{generation}"}, retention: {after: 7d}}}
`)
	b.create("slow", "x")
	b.expireNow("x", 8*day)
	b.advance(2 * time.Hour)
	if _, err := b.Commands().Claim(t.Context(), 10, time.Minute); err != nil { // it begins
		t.Fatal(err)
	}
	b.rewrite("x", "raw")
	b.advance(day)
	if _, err := b.Cancel(b.ctx, b.delPart("x", "raw").ID); err != nil {
		t.Fatal(err)
	}
	b.advance(6*day - time.Second)
	if got := b.expired(); got.Total != 0 {
		t.Errorf("before seven days: %+v", got.Candidates)
	}
	b.advance(time.Second)
	if got := b.expired(); got.Total != 1 {
		t.Errorf("after seven days: %+v", got.Candidates)
	}
}

// expireNow lets time pass and retention run.
func (b *bench) expireNow(id string, after time.Duration) {
	b.t.Helper()
	b.advance(after)
	if got := ids(b.expire()); !slices.Equal(got, []string{id + "raw"}) {
		b.t.Fatalf("expired: %q", got)
	}
}

func TestRetentionNeverEndsWhatIsUnderWay(t *testing.T) {
	b := newRetention(t, partsExpire)
	b.putWith("check", "x", map[string]any{"state": "done"})
	b.advance(366 * day)
	d := b.del("x")
	if got := b.expired(); got.Total != 0 {
		t.Errorf("while it is being deleted: %+v", got.Candidates)
	}
	b.erased(d, "x", b.asset("x").Generation)
	b.expire()
	if got := b.asset("x"); got.Deletion != d.ID || got.Status != dependency.Deleted {
		t.Errorf("afterwards: %s", pretty(got))
	}
}
