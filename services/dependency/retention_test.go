package dependency_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

const day = 24 * time.Hour

// scans is a policy of which several things expire; more are further lines of it.
func scans(more string) string {
	return `
links: {NEEDS: {on_target_delete: restrict}, PART_OF: {on_target_delete: cascade}}
` + more + `
kinds:
  report: {retention: {after: 30d, clock: updated_at}}
  result: {retention: {after: 7d, when: {state: [done, failed]}}}
  record: {retention: {after: 90d, clock: attributes.deleted_at}}
  keeper: {retention: {after: 0}}
  loser: {retention: {after: -1h}}
  bare: {}
`
}

func newRetention(t *testing.T, text string) *bench {
	t.Helper()
	return benchOn(t, openGraph(t), text)
}

func openGraph(t *testing.T) dependency.Graph {
	t.Helper()
	g, err := sqlite.Open(t.TempDir() + "/graph.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	return g
}

func (b *bench) putWith(kind, id string, attributes map[string]any) {
	b.t.Helper()
	if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: kind, Attributes: attributes}); err != nil {
		b.t.Fatalf("put %q: %v", id, err)
	}
}

// expired is a dry run.
func (b *bench) expired() dependency.Expired {
	b.t.Helper()
	found, err := b.Retention(b.ctx, false)
	if err != nil {
		b.t.Fatalf("retention: %v", err)
	}
	if found.Applied {
		b.t.Error("a dry run says that it was applied")
	}
	return found
}

// expire is a run by hand, with all that it does in the background.
func (b *bench) expire() dependency.Expired {
	b.t.Helper()
	found, err := b.Retention(b.ctx, true)
	if err != nil || !found.Applied {
		b.t.Fatalf("retention with apply: %+v, %v", found, err)
	}
	b.retain()
	return found
}

// retain is one look of the background.
func (b *bench) retain() {
	b.t.Helper()
	if err := b.Retain(b.t.Context(), false); err != nil {
		b.t.Fatalf("retain: %v", err)
	}
}

func ids(found dependency.Expired) (list []string) {
	for _, c := range found.Candidates {
		list = append(list, c.Asset+c.Part)
	}
	return list
}

// stays fails the test unless these assets are live.
func (b *bench) stays(live ...string) {
	b.t.Helper()
	for _, id := range live {
		if got := b.asset(id).Status; got != dependency.Live {
			b.t.Errorf("%s is %s", id, got)
		}
	}
}

// goes fails the test unless these assets are being deleted, or are deleted.
func (b *bench) goes(dead ...string) {
	b.t.Helper()
	for _, id := range dead {
		if got := b.asset(id).Status; got == dependency.Live {
			b.t.Errorf("%s is live", id)
		}
	}
}

func TestWhatExpires(t *testing.T) {
	b := newRetention(t, scans(""))
	done := map[string]any{"state": "done"}
	b.putWith("result", "done", done)
	b.putWith("result", "failed", map[string]any{"state": "failed"})
	b.putWith("result", "running", map[string]any{"state": "running"})
	b.putWith("result", "unknown", nil)
	b.putWith("report", "read", nil)
	b.putWith("report", "written", nil)
	b.putWith("keeper", "kept", done)
	b.putWith("loser", "kept too", done)
	b.putWith("bare", "bare", done)
	long := b.now().Add(-100 * day).In(time.FixedZone("elsewhere", -9*3600)).Format(time.RFC3339)
	b.putWith("record", "deleted long ago", map[string]any{"deleted_at": long})
	b.putWith("record", "deleted some day", map[string]any{"deleted_at": "some day"})
	b.putWith("record", "not deleted", nil)
	if got := ids(b.expired()); !slices.Equal(got, []string{"deleted long ago"}) {
		t.Errorf("at once: %q", got)
	}
	b.advance(7*day - time.Microsecond)
	b.putWith("result", "young", done)
	if got := b.expired(); got.Total != 1 {
		t.Errorf("a moment before seven days: %+v", got)
	}
	b.advance(time.Microsecond)
	found := b.expired()
	if diff := cmp.Diff([]string{"deleted long ago", "done", "failed"}, ids(found)); diff != "" {
		t.Errorf("after seven days:\n%s", diff)
	}
	if got := found.Candidates[1].Reason; got != "expired at 2026-03-08T12:00:00Z, 7d after created_at" {
		t.Errorf("reason: %q", got)
	}
	b.advance(23 * day)
	b.putWith("report", "written", map[string]any{"pages": 2.0})
	if diff := cmp.Diff([]string{"deleted long ago", "read", "done", "failed", "young"}, ids(b.expired())); diff != "" {
		t.Errorf("after thirty days:\n%s", diff)
	}
	if got := b.flags(); len(got) != 0 {
		t.Errorf("dry runs have set flags: %+v", got)
	}
	b.expire()
	b.goes("deleted long ago", "read", "done", "failed", "young")
	b.stays("running", "unknown", "written", "kept", "kept too", "bare", "deleted some day", "not deleted")
	d := b.deletion(b.asset("done").Deletion)
	if d.RequestedBy != "retention" || d.Reason != "expired at 2026-03-08T12:00:00Z, 7d after created_at" {
		t.Errorf("asked by %q because %q", d.RequestedBy, d.Reason)
	}
	if diff := cmp.Diff([]string{events.TypeDeletionRequested}, b.trail("done")); diff != "" {
		t.Errorf("trail:\n%s", diff)
	}
	if got := b.expired(); got.Total != 0 {
		t.Errorf("after the run: %+v", got)
	}
}

// H-72, H-71: elapsed time decides, in every zone that the host may be in, and a week is 168 hours, also where it has a change
// to or from summer time.
func TestRetentionInZones(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Pacific/Chatham"} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for created, looks := range map[string][2]string{
			"2026-03-25T12:00:00Z": {"2026-04-01T11:30:00Z", "2026-04-01T12:00:01Z"},
			"2026-10-20T12:00:00Z": {"2026-10-27T11:59:59Z", "2026-10-27T12:00:01Z"},
			"2026-03-05T12:00:00Z": {"2026-03-12T11:59:59Z", "2026-03-12T12:00:00Z"}, // New York
			"2026-10-29T12:00:00Z": {"2026-11-05T11:59:59Z", "2026-11-05T12:00:00Z"},
			"2026-04-01T12:00:00Z": {"2026-04-08T11:59:59Z", "2026-04-08T12:00:00Z"}, // Chatham
			"2026-09-24T12:00:00Z": {"2026-10-01T11:59:59Z", "2026-10-01T12:00:00Z"},
		} {
			t.Run(zone+" "+created, func(t *testing.T) {
				hostIn(t, place)
				b := newRetention(t, scans(""))
				b.setClock(created, place)
				b.putWith("result", "a", map[string]any{"state": "done"})
				b.putWith("record", "b", map[string]any{"deleted_at": b.now().Add(-83 * day).In(place).Format(time.RFC3339)})
				b.setClock(looks[0], place)
				b.expire()
				b.stays("a", "b")
				b.setClock(looks[1], place)
				b.expire()
				b.goes("a", "b")
			})
		}
	}
}

// hostIn puts the host into a zone, as TZ would have, until the test ends.
func hostIn(t *testing.T, place *time.Location) {
	before := time.Local
	time.Local = place
	t.Cleanup(func() { time.Local = before })
}

func (b *bench) setClock(text string, place *time.Location) {
	b.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.advance(at.In(place).Sub(b.now()))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.In(place)
}

// H-73: what cannot go is counted apart.
func TestWhatRetentionLeaves(t *testing.T) {
	b := newRetention(t, scans(""))
	done := map[string]any{"state": "done"}
	for _, id := range []string{"held", "needed", "free"} {
		b.putWith("result", id, done)
	}
	b.create("bare", "needs it", dependency.LinkTo{Type: "NEEDS", To: "needed"})
	b.create("bare", "member", dependency.LinkTo{Type: "PART_OF", To: "free"})
	if err := b.Hold(b.ctx, "held", "case 7"); err != nil {
		t.Fatal(err)
	}
	b.advance(8 * day)
	found := b.expire()
	if diff := cmp.Diff([]string{"free"}, ids(found)); diff != "" || found.Left != (dependency.Left{Held: 1, Dependants: 1}) {
		t.Errorf("left %+v, candidates:\n%s", found.Left, diff)
	}
	b.stays("held", "needed", "needs it")
	b.goes("free", "member")
	if err := b.Unlink(b.ctx, "needs it", "NEEDS", "needed"); err != nil {
		t.Fatal(err)
	}
	if err := b.Release(b.ctx, "held"); err != nil {
		t.Fatal(err)
	}
	b.expire()
	b.goes("held", "needed")
}

// H-73: how much waits to go, and since when.
func TestRetentionTellsHowMuch(t *testing.T) {
	b := newRetention(t, scans(""))
	first := b.now()
	for i := range 1500 {
		size, owner := int64(10), "acme"
		if i%3 == 0 {
			owner = "globex"
		}
		_, _, err := b.PutAsset(b.ctx, fmt.Sprintf("r-%04d", i), dependency.Put{Kind: "result", Owner: owner, Bytes: &size, Attributes: map[string]any{"state": "done"}})
		if err != nil {
			t.Fatal(err)
		}
		b.advance(time.Microsecond)
	}
	b.advance(7 * day)
	found := b.expired()
	if len(found.Candidates) != 1000 || found.Total != 1500 || found.Bytes != 15000 || !found.Oldest.Equal(first.Add(7*day)) {
		t.Errorf("%d candidates of %d with %d bytes, since %v", len(found.Candidates), found.Total, found.Bytes, found.Oldest)
	}
	want := []dependency.ExpiredGroup{{Kind: "result", Owner: "acme", Total: 1000, Bytes: 10000}, {Kind: "result", Owner: "globex", Total: 500, Bytes: 5000}}
	if diff := cmp.Diff(want, found.Groups); diff != "" {
		t.Error(diff)
	}
}

func TestRetentionIsForOperators(t *testing.T) {
	b := newRetention(t, scans(""))
	_, err := b.Retention(b.as("acme"), false)
	refused(t, err, problem.Forbidden)
}

// H-49: a share of an owner's assets that is too large stops everything.
func TestShareBrake(t *testing.T) {
	b := newRetention(t, scans("limits: {max_share_per_owner: 0.3}\nretention: {every: 1h, first_run: apply}"))
	done := map[string]any{"state": "done"}
	b.putWith("result", "r-0", done)
	b.putWith("result", "r-1", done)
	for i := range 4 {
		b.putWith("bare", fmt.Sprintf("b-%d", i), nil)
	}
	b.advance(8 * day)
	want := []dependency.OwnerShare{{Owner: "acme", Candidates: 2, Live: 6}}
	if diff := cmp.Diff(want, b.expired().ExceedsShare); diff != "" {
		t.Errorf("the dry run:\n%s", diff)
	}
	_, err := b.Retention(b.ctx, true)
	p := refused(t, err, problem.ShareExceeded)
	if diff := cmp.Diff(any(want), p.Members["exceeds_share"]); diff != "" {
		t.Error(diff)
	}
	b.retain() // and by itself neither
	b.stays("r-0", "r-1")
	b.putWith("bare", "b-4", nil) // 2 of 7 are less than 30 %
	if got := b.expired().ExceedsShare; len(got) != 0 {
		t.Errorf("2 of 7: %+v", got)
	}
	b.advance(2 * time.Hour)
	b.retain()
	b.goes("r-0", "r-1")
}
