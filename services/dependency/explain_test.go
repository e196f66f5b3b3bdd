package dependency_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

func (b *bench) explain(d dependency.Deletion) dependency.Explanation {
	b.t.Helper()
	x, err := b.Explain(b.ctx, d.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

// says fails the test unless the explanation is this; ID in what may be done stands for the deletion's.
func (b *bench) says(d dependency.Deletion, waitsFor string, since time.Time, mayDo ...string) dependency.Explanation {
	b.t.Helper()
	x := b.explain(d)
	for i := range mayDo {
		mayDo[i] = strings.ReplaceAll(mayDo[i], "ID", d.ID)
	}
	if diff := cmp.Diff(append([]string{}, mayDo...), x.MayDo); diff != "" {
		b.t.Errorf("may do: %s", diff)
	}
	if x.WaitsFor != waitsFor {
		b.t.Errorf("waits for %q, want %q", x.WaitsFor, waitsFor)
	}
	if !since.IsZero() && (x.Since == nil || !x.Since.Equal(since)) {
		b.t.Errorf("since %v, want %s", x.Since, since)
	}
	if now := b.deletion(d.ID); x.Deletion != d.ID || x.Root != d.Root || x.Status != now.Status || x.Stalled != now.Stalled {
		b.t.Errorf("explained: %s of %s", pretty(x), pretty(now))
	}
	return x
}

func TestExplainAScheduledDeletion(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	b.create("item", "x's; rm -rf ~", dependency.LinkTo{Type: "PART_OF", To: "x"})
	b.create("item", "-all", dependency.LinkTo{Type: "PART_OF", To: "x"})
	d := b.del("x")
	x := b.says(d, "its due time, 2026-03-01T13:00:00Z", d.RequestedAt, "tombstone cancel ID")
	if x.NextTry == nil || !x.NextTry.Equal(d.DueAt) || len(x.Causes) != 5 {
		t.Errorf("explained: %s", pretty(x))
	}
	b.hold("-all", "law")
	b.says(d, `the legal hold on "-all"; it stays scheduled until that is released`, d.RequestedAt, "tombstone release -- -all", "tombstone cancel ID")
	b.hold("x's; rm -rf ~", "law") // a command that is copied must not be another one
	b.says(d, `the legal holds on "-all" and 1 more of its assets; it stays scheduled until all are released`, d.RequestedAt,
		"tombstone release -- -all", `tombstone release 'x'\''s; rm -rf ~'`, "tombstone cancel ID")
	b.release("-all")
	b.release("x's; rm -rf ~")
	b.advance(time.Hour)
	b.says(d, "its turn: it is due, and begins within seconds", d.DueAt, "tombstone cancel ID")
	if err := b.Pause(b.ctx, ""); err != nil {
		t.Fatal(err)
	}
	x = b.says(d, "physical deletion is paused by olga; nothing is published or erased until it is resumed", b.now(), "tombstone resume", "tombstone cancel ID")
	if !x.Paused {
		t.Error("paused is not set")
	}
	if _, err := b.Cancel(b.ctx, d.ID); err != nil {
		t.Fatal(err)
	}
	b.says(d, "nothing: it was cancelled, its assets are live", time.Time{})
}

func TestExplainADeletionThatHasBegun(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	d := b.del("x")
	b.says(d, "its command has not reached the broker yet; it is published again by itself", d.RequestedAt,
		"look at the broker (tombstone doctor), then: tombstone replay ID")
	b.advance(time.Minute)
	if err := b.Commands().Sent(t.Context(), []string{b.flags()[0].ID}); err != nil {
		t.Fatal(err)
	}
	b.says(d, "the asset service, which has the command", time.Time{}, "tombstone retry ID") // although the flag is still there
	sent := b.now()
	runSentOnce(t, b)
	b.says(d, "the asset service, which has the command", sent, "tombstone retry ID")

	next := b.now().Add(time.Minute)
	b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressRetry, Attempts: 7, LastError: "connection refused", NextTry: &next})
	x := b.says(d, "the asset service, whose last try failed; it tries again by itself", sent, "remove the cause, then: tombstone retry ID")
	if x.LastError != "connection refused" || x.NextTry == nil || !x.NextTry.Equal(next) || len(x.Causes) != 2 || x.Causes[1].Attempts != 7 {
		t.Errorf("explained: %s", pretty(x))
	}

	b.advance(time.Minute)
	blocked, next, until := b.now(), b.now().Add(30*time.Minute), b.now().Add(24*time.Hour)
	for range 2 { // still blocked, in the same way
		b.progress(d, events.PartProgress{Part: "payload", Status: events.ProgressBlocked, Reason: "object-locked", Attempts: 8, LastError: "locked by retention",
			NextTry: &next, Until: &until})
		b.advance(time.Minute)
	}
	x = b.says(d, `part "payload" of "x": object-locked, until 2026-03-02T12:02:00Z`, blocked, "remove the cause, then: tombstone retry ID",
		"if the store is gone for good, give the part up: tombstone force ID --part payload --reason WHY")
	if x.LastError != "locked by retention" || x.NextTry == nil || !x.NextTry.Equal(next) {
		t.Errorf("explained: %s", pretty(x))
	}
	b.advance(2 * time.Hour)
	if x := b.explain(d); !x.Stalled {
		t.Errorf("past stalled_after: %s", pretty(x))
	}

	b.erased(d, "x", a.Generation)
	x = b.says(d, "nothing: it is completed, every part was seen to be absent", b.now(), "tombstone receipt ID")
	if len(x.Causes) != 0 || x.LastError != "" || x.NextTry != nil {
		t.Errorf("explained: %s", pretty(x))
	}
}

func TestExplainOfAnUnsentCommandTellsWhatTheBrokerSaidAndTheNextTry(t *testing.T) {
	g, err := sqlite.Open(t.TempDir() + "/graph.db")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(t.Context())
	var fault error
	b := benchWith(t, g, policyText, func(c *dependency.Config) {
		c.PublishFault = func() error { return fault }
		c.ClaimFor = 10 * time.Second
	})
	b.create("item", "x")
	d := b.del("x")
	const waits = "its command has not reached the broker yet; it is published again by itself"
	const help = "look at the broker (tombstone doctor), then: tombstone replay ID"
	if x := b.says(d, waits, d.RequestedAt, help); x.LastError != "" || x.NextTry == nil || !x.NextTry.Equal(b.now().Add(10*time.Second)) {
		t.Errorf("not tried yet: %s", pretty(x))
	}
	fault = errors.New("publish on a subject: maximum bytes exceeded")
	if x := b.says(d, waits, d.RequestedAt, help); x.LastError != fault.Error() {
		t.Errorf("refused by the broker: %s", pretty(x))
	}
	x, err := b.Explain(dependency.WithCaller(t.Context(), dependency.Caller{Subject: "ann", Owner: "acme"}), d.ID)
	if err != nil || x.LastError != "" {
		t.Errorf("to one who is no operator: %v, %s", err, pretty(x))
	}
	b.advance(time.Minute)
	if x := b.explain(d); x.NextTry != nil {
		t.Errorf("its claim has run out, it is tried at any moment: %s", pretty(x))
	}
}

func TestExplainOfAStalledDeletionThatNobodyErasesNamesTheDoctor(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	d := b.del("x")
	if err := b.Commands().Sent(t.Context(), []string{b.flags()[0].ID}); err != nil {
		t.Fatal(err)
	}
	sent := b.now()
	runSentOnce(t, b)
	b.advance(2 * time.Hour)
	b.says(d, "the asset service, which has the command", sent, "look whether an asset service answers (tombstone doctor), then: tombstone retry ID")
}

func TestExplainDoesNotCallForcedPartsAbsent(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	d := b.del("x")
	for _, part := range []string{"note", "payload"} {
		if _, err := b.Force(b.ctx, d.ID, dependency.Force{Part: part, Reason: "gone"}); err != nil {
			t.Fatal(err)
		}
	}
	b.says(d, "nothing: it is completed, but 2 of its parts were given up by an operator and not verified", b.now(), "tombstone receipt ID")
}

func TestExplainFindsTheLastOfManySteps(t *testing.T) {
	b := newBench(t)
	b.create("item", "root")
	const n = 120
	for i := range n {
		b.create("item", fmt.Sprintf("child-%03d", i), dependency.LinkTo{Type: "PART_OF", To: "root"})
	}
	d := b.del("root")
	b.erasedParts(d, "root", "note", "payload")
	for i := range n - 1 {
		b.erasedParts(d, fmt.Sprintf("child-%03d", i), "note", "payload")
	}
	x := b.explain(d)
	if len(x.Causes) != 2 || x.Causes[0].Asset != "child-119" {
		t.Errorf("causes: %s, want the two steps of the last child", pretty(x.Causes))
	}
}

func TestExplainIsTheOwnersToo(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	d := b.del("x")
	if _, err := b.Explain(b.as("acme"), d.ID); err != nil {
		t.Errorf("the owner: %v", err)
	}
	for _, id := range []string{d.ID, "0190a000-0000-7000-8000-000000000000", "no id"} {
		_, err := b.Explain(b.as("globex"), id)
		refused(t, err, problem.NotFound)
	}
}
