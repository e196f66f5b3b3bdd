package dependency_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func (b *bench) grant(id string, ttl time.Duration) (events.Granted, error) {
	return b.Grant(b.t.Context(), events.GrantRequest{Asset: id, Part: "payload", Name: "x.bin", Owner: "acme", TTL: ttl})
}

// granted gives a right that must be given.
func (b *bench) granted(id string, ttl time.Duration) events.Granted {
	b.t.Helper()
	g, err := b.grant(id, ttl)
	if err != nil {
		b.t.Fatalf("grant on %q: %v", id, err)
	}
	return g
}

func TestAGrantSaysWhereAndUntilWhen(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	b.advance(300 * time.Millisecond)
	g := b.granted("x", time.Minute)
	if want := b.now().Add(time.Minute + 700*time.Millisecond); !g.Until.Equal(want) {
		t.Errorf("until %s, want the next whole second, %s", g.Until, want)
	}
	if g.Generation != a.Generation || g.Kind != "item" || g.Owner != "acme" {
		t.Errorf("granted: %+v", g)
	}
	if g := b.granted("x", 0); !g.Until.After(b.now().Add(15*time.Minute - time.Second)) {
		t.Errorf("without a ttl: until %s, want the policy's default", g.Until)
	}
}

func TestGrantRefusalsChangeNothing(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	b.create("item", "going")
	if _, _, err := b.PutAsset(b.ctx, "f", dependency.Put{Kind: "file", Attributes: map[string]any{"key": "a/b"}}); err != nil {
		t.Fatal(err)
	}
	b.del("going")
	tests := map[string]struct {
		change func(*events.GrantRequest)
		want   problem.Name
		field  string
	}{
		"an unknown asset":                {func(r *events.GrantRequest) { r.Asset = "nobody" }, problem.NotFound, ""},
		"another owner's":                 {func(r *events.GrantRequest) { r.Owner = "globex" }, problem.NotFound, ""},
		"a tombstone":                     {func(r *events.GrantRequest) { r.Asset = "going" }, problem.Gone, ""},
		"an unknown part":                 {func(r *events.GrantRequest) { r.Part = "unheard" }, problem.UnknownPart, "part"},
		"a document":                      {func(r *events.GrantRequest) { r.Part = "note" }, problem.UnknownPart, "part"},
		"a place without the generation":  {func(r *events.GrantRequest) { r.Asset, r.Part = "f", "content" }, problem.NoGrant, "part"},
		"a name that leads out":           {func(r *events.GrantRequest) { r.Name = "../x" }, problem.InvalidRequest, "name"},
		"no name":                         {func(r *events.GrantRequest) { r.Name = "" }, problem.InvalidRequest, "name"},
		"longer than the policy allows":   {func(r *events.GrantRequest) { r.TTL = time.Hour + 1 }, problem.InvalidRequest, "ttl"},
		"a time before now":               {func(r *events.GrantRequest) { r.TTL = -time.Second }, problem.InvalidRequest, "ttl"},
		"a name that is too long a place": {func(r *events.GrantRequest) { r.Name = strings.Repeat("x", 256) }, problem.LocationTooLong, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := events.GrantRequest{Asset: "x", Part: "payload", Name: "x.bin", Owner: "acme", TTL: time.Minute}
			test.change(&r)
			_, err := b.Grant(t.Context(), r)
			if p := refused(t, err, test.want); p.Field != test.field {
				t.Errorf("at %q, want %q", p.Field, test.field)
			}
		})
	}
	if d := b.del("x"); d.Status != dependency.Deleting {
		t.Errorf("a refused grant holds the deletion up: %s", pretty(d))
	}
}

func TestADeletionIsDueAtTheLaterOfGraceAndTheLastUpload(t *testing.T) {
	const margin = 5 * time.Minute
	tests := map[string]struct {
		kind   string
		before func(b *bench, id string)
		want   time.Duration // after the request
	}{
		"neither":                                  {"item", func(*bench, string) {}, 0},
		"an upload":                                {"item", func(b *bench, id string) { b.granted(id, 10*time.Minute) }, 10*time.Minute + margin},
		"the longer of two uploads":                {"item", func(b *bench, id string) { b.granted(id, 10*time.Minute); b.granted(id, time.Minute) }, 10*time.Minute + margin},
		"grace is later than the upload":           {"patient", func(b *bench, id string) { b.granted(id, 10*time.Minute) }, time.Hour},
		"the upload is later than grace":           {"patient", func(b *bench, id string) { b.granted(id, 58*time.Minute) }, 58*time.Minute + margin},
		"an upload that is over, its margin not":   {"item", func(b *bench, id string) { b.granted(id, time.Minute); b.advance(2 * time.Minute) }, 4 * time.Minute},
		"an upload that is over with its margin":   {"item", func(b *bench, id string) { b.granted(id, time.Minute); b.advance(6 * time.Minute) }, 0},
		"a lease does not count":                   {"item", func(b *bench, id string) { b.leased(id, time.Hour) }, 0},
		"an upload of what is cascaded":            {"item", func(b *bench, id string) { b.create("item", "leaf", partOf(id)); b.granted("leaf", time.Minute) }, time.Minute + margin},
		"an upload of the generation before":       {"item", reborn, 0},
		"an upload before a deletion taken back":   {"item", func(b *bench, id string) { b.granted(id, time.Minute); b.cancelled(id) }, time.Minute + margin},
		"grace of a cascaded asset after uploads":  {"item", func(b *bench, id string) { b.create("slow", "leaf", partOf(id)); b.granted(id, time.Minute) }, time.Hour},
		"changes of the asset keep its last grant": {"item", func(b *bench, id string) { b.granted(id, time.Minute); b.put(id) }, time.Minute + margin},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.create(test.kind, "x")
			test.before(b, "x")
			d := b.del("x")
			if got := d.DueAt.Sub(d.RequestedAt); got != test.want {
				t.Errorf("due %s after the request, want %s", got, test.want)
			}
			want := dependency.Deleting
			if test.want > 0 {
				want = dependency.Scheduled
			}
			if d.Status != want || b.claim() != 0 {
				t.Errorf("%s, want %s, and nothing to send yet", d.Status, want)
			}
			b.advance(test.want + 11*time.Second) // also past the claim of the replica that accepted
			if n := b.claim(); n == 0 || b.deletion(d.ID).Status != dependency.Deleting {
				t.Errorf("when due: %d flags, %s", n, b.deletion(d.ID).Status)
			}
		})
	}
}

func partOf(id string) dependency.LinkTo { return dependency.LinkTo{Type: "PART_OF", To: id} }

func (b *bench) put(id string) {
	b.t.Helper()
	if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "item", Attributes: map[string]any{"a": 1.0}}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) cancelled(id string) {
	b.t.Helper()
	if _, err := b.Cancel(b.ctx, b.del(id).ID); err != nil {
		b.t.Fatal(err)
	}
}

// reborn gives an upload, deletes the asset to its end, and creates it again.
func reborn(b *bench, id string) {
	b.granted(id, time.Minute)
	d := b.del(id)
	b.advance(time.Hour)
	b.claim()
	b.erased(d, id, b.asset(id).Generation)
	b.create("item", id)
}

func (b *bench) leased(id string, ttl time.Duration) events.Leased {
	b.t.Helper()
	l, err := b.Lease(b.t.Context(), events.LeaseRequest{Asset: id, Owner: "acme", TTL: ttl})
	if err != nil {
		b.t.Fatalf("lease of %q: %v", id, err)
	}
	return l
}

func (b *bench) renew(id, token string, ttl time.Duration, attributes map[string]any) (events.Leased, error) {
	return b.Renew(b.t.Context(), events.RenewRequest{Asset: id, Token: token, Owner: "acme", TTL: ttl, Attributes: attributes})
}

// admits tells whether a lease lets its holder write a document.
func (b *bench) admits(id, token string) error {
	admitted, err := b.Admit(b.t.Context(), events.Admission{Asset: id, Part: "note", Owner: "acme", Write: true, LeaseToken: token})
	if err == nil && admitted.LeaseLeft <= 0 {
		b.t.Errorf("admitted under a lease that lasts %s", admitted.LeaseLeft)
	}
	return err
}

func TestALeaseIsOneWorkersUntilItEnds(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	first := b.leased("x", time.Minute)
	if !first.Until.Equal(b.now().Add(time.Minute)) || first.Token == "" {
		t.Errorf("lease: %+v", first)
	}
	_, err := b.Lease(t.Context(), events.LeaseRequest{Asset: "x", Owner: "acme"})
	refused(t, err, problem.Leased)
	b.advance(50 * time.Second)
	if l, err := b.renew("x", first.Token, time.Minute, nil); err != nil || !l.Until.Equal(b.now().Add(time.Minute)) {
		t.Fatalf("renewed: %+v, %v", l, err)
	}
	if l, err := b.renew("x", first.Token, 0, nil); err != nil || !l.Until.Equal(b.now().Add(time.Minute)) {
		t.Fatalf("without a ttl it ends when it would have: %+v, %v", l, err)
	}
	if err := b.admits("x", first.Token); err != nil {
		t.Error(err)
	}
	b.advance(time.Minute)
	b.lost("x", first.Token) // run out
	second := b.leased("x", time.Minute)
	b.lost("x", first.Token) // taken over
	b.lost("x", "")
	b.lost("x", "no such token")
	if err := b.admits("x", second.Token); err != nil {
		t.Error(err)
	}
}

// lost checks that a token is worth nothing, and that trying it changes nothing.
func (b *bench) lost(id, token string) {
	b.t.Helper()
	before := pretty(b.asset(id))
	_, err := b.renew(id, token, time.Minute, map[string]any{"state": "stolen"})
	refused(b.t, err, problem.LeaseLost)
	if token != "" { // without one no lease is claimed
		refused(b.t, b.admits(id, token), problem.LeaseLost)
	}
	if after := pretty(b.asset(id)); after != before {
		b.t.Errorf("a lost lease changed the asset:\n%s\n%s", before, after)
	}
}

func TestTheTombstoneRevokesTheLeaseForEver(t *testing.T) {
	b := newBench(t)
	b.create("slow", "x")
	l := b.leased("x", time.Hour)
	d := b.del("x")
	_, err := b.renew("x", l.Token, time.Minute, nil)
	refused(t, err, problem.LeaseLost)
	refused(t, b.admits("x", l.Token), problem.Gone)
	_, err = b.Lease(t.Context(), events.LeaseRequest{Asset: "x", Owner: "acme"})
	refused(t, err, problem.Gone)
	if _, err := b.Cancel(b.ctx, d.ID); err != nil {
		t.Fatal(err)
	}
	b.lost("x", l.Token)
	b.leased("x", time.Minute)
}

func TestAttributesChangeUnderALease(t *testing.T) {
	b := newBench(t)
	if _, _, err := b.PutAsset(b.ctx, "f", dependency.Put{Kind: "file", Attributes: map[string]any{"key": "a/b", "state": "new", "tries": 1.0}}); err != nil {
		t.Fatal(err)
	}
	l := b.leased("f", time.Minute)
	b.advance(time.Second)
	if _, err := b.renew("f", l.Token, 0, map[string]any{"state": "done", "tries": nil}); err != nil {
		t.Fatal(err)
	}
	a := b.asset("f")
	if want := `{"key":"a/b","state":"done"}`; pretty(a.Attributes) != want || !a.UpdatedAt.Equal(b.now()) {
		t.Errorf("attributes %s at %s, want %s now", pretty(a.Attributes), a.UpdatedAt, want)
	}
	for name, changes := range map[string]map[string]any{"another value": {"key": "c"}, "none": {"key": nil}} {
		_, err := b.renew("f", l.Token, 0, changes)
		if p := refused(t, err, problem.AttributeFixed); p.Field != "attributes.key" {
			t.Errorf("%s for what makes a place: at %q", name, p.Field)
		}
	}
	_, err := b.renew("f", l.Token, 2*time.Hour, map[string]any{"state": "late"})
	refused(t, err, problem.InvalidRequest)
	if after := b.asset("f"); pretty(after) != pretty(a) {
		t.Errorf("refusals changed the asset: %s", pretty(after))
	}
}

func TestLeasesOfAnotherOwnerDoNotExist(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	l := b.leased("x", time.Minute)
	_, err := b.Renew(t.Context(), events.RenewRequest{Asset: "x", Token: l.Token, Owner: "globex"})
	refused(t, err, problem.NotFound)
	_, err = b.Lease(t.Context(), events.LeaseRequest{Asset: "x", Owner: "globex"})
	refused(t, err, problem.NotFound)
	if err := b.admits("x", l.Token); errors.Is(err, problem.LeaseLost) {
		t.Error("a refusal took the lease")
	}
}

func TestAGrantOpensAPartThatWasDeletedInItsNewGeneration(t *testing.T) {
	b := newBench(t)
	a := b.create("item", "x")
	first := b.granted("x", time.Minute)
	d := b.delPart("x", "payload")
	if want := first.Until.Add(5 * time.Minute); !d.DueAt.Equal(want) || d.Status != dependency.Scheduled {
		t.Errorf("the deletion of the part is %s, due %s, want %s", d.Status, d.DueAt, want)
	}
	_, err := b.grant("x", time.Minute)
	refused(t, err, problem.Gone) // a cancel would bring the content back
	b.advance(time.Hour)
	b.claim()
	again := b.granted("x", time.Minute)
	p := b.asset("x").Parts["payload"]
	if again.Generation == a.Generation || again.Generation != p.Generation || p.Status != dependency.PartPresent {
		t.Errorf("granted in generation %s, part %s", again.Generation, pretty(p))
	}
}
