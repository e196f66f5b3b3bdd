package dependency_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// stock answers for the asset service: what lies on stock, a page for each list, and which documents are there.
type stock struct {
	dependency.Stores
	pages map[string][][]events.Lodger // by bucket or collection
	there map[string]bool              // documents, as asset/part
	fail  error
	asked func(events.Shelf)
}

func (s *stock) Survey(_ context.Context, shelf events.Shelf) (out events.Survey, err error) {
	if s.asked != nil {
		s.asked(shelf)
	}
	pages := s.pages[shelf.Bucket+shelf.Collection]
	if shelf.Bucket != "" && shelf.Prefix != "payload/" {
		pages = nil
	}
	n := len(shelf.After)
	if n < len(pages) {
		out.Lodgers = pages[n]
	}
	if n+1 < len(pages) {
		out.Next = strings.Repeat("x", n+1)
	}
	return out, s.fail
}

func (s *stock) Look(_ context.Context, targets []events.Target) (sights []events.Sight, err error) {
	for _, t := range targets {
		var seen events.Sight
		for part := range t.Parts {
			if s.there[t.Asset+"/"+part] {
				seen.Found = append(seen.Found, events.Thing{Part: part, Form: events.FormDocument})
			}
		}
		sights = append(sights, seen)
	}
	return sights, nil
}

// sweeping is a bench with stock.
func sweeping(t *testing.T) (*bench, *stock) {
	t.Helper()
	s := &stock{pages: map[string][][]events.Lodger{}, there: map[string]bool{}}
	b := benchWith(t, openGraph(t), policyText, func(c *dependency.Config) { c.Stores = s })
	b.advance(time.Since(b.now())) // generations are made by the real clock
	b.advance(100 * time.Hour)     // and all of it is old
	return b, s
}

// generationAt is a generation of some time ago.
func generationAt(before time.Duration) string {
	id := uuid.Must(uuid.NewV7())
	ms := uint64(time.Now().Add(-before).UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	return id.String()
}

// objects are what lies below the prefix of an item's payload, written long ago.
func (b *bench) objects(id, generation string, bytes int64) events.Lodger {
	return events.Lodger{Asset: id, Generation: generation, Kind: "item", Part: "payload", Bucket: "assets", Place: "payload/" + id + "/" + generation + "/", Below: true,
		Things: 1, Bytes: bytes, Written: b.now().Add(-100 * time.Hour)}
}

// sweep is one by hand, with all that it does in the background.
func (b *bench) sweep(apply bool) dependency.Findings {
	b.t.Helper()
	found, err := b.Sweep(b.ctx, apply)
	if err != nil || found.Applied != apply {
		b.t.Fatalf("applied %t, %v", found.Applied, err)
	}
	if err := b.Tidy(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return found
}

// told lists candidates as lines.
func told(f dependency.Findings) (lines []string) {
	for _, c := range f.Candidates {
		lines = append(lines, fmt.Sprintf("%s %s %s %d: %s", c.Asset, c.Part, c.Place, c.Bytes, c.Reason))
	}
	return lines
}

// H-47 (what is young stays), H-50 (what is being deleted is no orphan).
func TestSweepFindsWhatIsNobodys(t *testing.T) {
	b, s := sweeping(t)
	live, deleting, gone := b.create("item", "live"), b.create("item", "deleting"), b.create("item", "gone")
	b.del("deleting")
	d := b.del("gone")
	b.erased(d, "gone", gone.Generation)
	older := generationAt(time.Hour)
	ghost := b.objects("ghost", older, 5)
	further := ghost
	further.Bytes = 6
	young := b.objects("young", older, 1)
	young.Written = b.now().Add(99 * time.Hour) // an hour ago when it is swept
	document := events.Lodger{Asset: "ghost", Generation: older, Kind: "item", Part: "note", Collection: "notes", Place: "ghost/" + older, Things: 1}
	unknown := events.Lodger{Asset: "old", Kind: "slow", Part: "note", Collection: "slownotes", Place: "old", Things: 1} // it tells no time
	s.pages["assets"] = [][]events.Lodger{
		{b.objects("live", live.Generation, 1), b.objects("live", older, 7), b.objects("deleting", deleting.Generation, 1), b.objects("deleting", older, 1), ghost},
		{further, young, b.objects("gone", gone.Generation, 2)},
	}
	s.pages["notes"] = [][]events.Lodger{{document}}
	s.pages["slownotes"] = [][]events.Lodger{{unknown}}
	s.there["live/note"] = true
	missing := b.create("item", "missing")
	b.advance(100 * time.Hour)
	s.pages["assets"][0] = append(s.pages["assets"][0], b.objects("missing", missing.Generation, 1))
	want := []string{
		"missing note  0: the document is missing, or was not written yet; there is nothing to remove",
		"ghost note notes/ghost/" + older + " 0: there is no such asset",
		"live payload assets/payload/live/" + older + "/ 7: the asset is in a later generation",
		"ghost payload assets/payload/ghost/" + older + "/ 5: there is no such asset",
		"gone payload assets/payload/gone/" + gone.Generation + "/ 2: the asset is deleted, by deletion " + d.ID,
	}
	flags := len(b.flags())
	for range 2 {
		found := b.sweep(false)
		if diff := cmp.Diff(want, told(found)); diff != "" {
			t.Error(diff)
		}
		if found.Total != 5 || found.Bytes != 20 || found.Applied {
			t.Errorf("%d, %d bytes, applied %t", found.Total, found.Bytes, found.Applied)
		}
	}
	if n := len(b.flags()); n != flags || len(b.trail("gone")) != 5 {
		t.Errorf("a dry run leaves %d flags, and the trail %v", n-flags, b.trail("gone"))
	}
}

// H-39: each orphan is a deletion of its own, so one that cannot be removed keeps no other.
func TestSweepRemovesByTheSaga(t *testing.T) {
	b, s := sweeping(t)
	live, gone := b.create("item", "live"), b.create("item", "gone")
	b.create("bare", "bystander")
	if _, _, err := b.PutAsset(b.ctx, "theirs", dependency.Put{Kind: "bare", Owner: "other"}); err != nil { // else the share brake holds
		t.Fatal(err)
	}
	d := b.del("gone")
	b.erased(d, "gone", gone.Generation)
	older := generationAt(time.Hour)
	s.there["live/note"] = true
	others := b.objects("live", older, 7)
	others.Owner = "other" // to whom the asset belonged in that generation
	s.pages["assets"] = [][]events.Lodger{{others, b.objects("ghost", older, 5), b.objects("gone", gone.Generation, 2)}}
	before := len(b.commands)
	if found := b.sweep(true); !found.Applied || found.Total != 3 {
		t.Fatalf("found %+v", found)
	}
	commands := map[string]events.Erase{}
	for _, f := range b.commands[before:] {
		_, c, err := events.DecodeCommand(f.Message.Data)
		if err != nil {
			t.Fatal(err)
		}
		commands[c.Asset] = c
	}
	for id, want := range map[string]struct{ generation, part, owner string }{
		"live": {live.Generation, older, "other"}, "ghost": {older, older, "default"}, "gone": {gone.Generation, gone.Generation, "acme"},
	} {
		c := commands[id]
		if c.Generation != want.generation || c.By != "sweep" || c.Owner != want.owner || !cmp.Equal(c.Parts, map[string]string{"payload": want.part}) {
			t.Errorf("command for %s: %+v", id, c)
		}
		question := events.Question{Deletion: c.Deletion, Asset: id, Generation: c.Generation, Parts: c.Parts}
		answers, err := b.Current(t.Context(), []events.Question{question})
		if err != nil || !answers[0].Erase || answers[0].Owner != want.owner {
			t.Errorf("%s may not be erased: %+v, %v", id, answers, err)
		}
	}
	if again := b.sweep(true); again.Total != 0 {
		t.Errorf("what is being removed is found again: %v", told(again))
	}
	if _, _, err := b.PutAsset(b.ctx, "gone", dependency.Put{Kind: "item"}); !errors.Is(err, problem.DeletionInProgress) {
		t.Errorf("an id of which something is still removed is created again: %v", err)
	}
	for id, c := range commands {
		b.report(events.TypeAssetErased, events.AssetErased{Deletion: c.Deletion, Asset: id, Generation: c.Generation,
			Parts: []events.PartEvidence{{Part: "payload", Generation: c.Parts["payload"], Objects: 1, Bytes: 7, Attempts: 1, SeenAbsentAt: b.now()}}})
		if got := b.deletion(c.Deletion); got.Status != dependency.Deleted || got.RequestedBy != "sweep" || !strings.HasPrefix(got.Reason, "orphan: ") {
			t.Errorf("deletion of %s: %+v", id, got)
		}
	}
	if a := b.asset("live"); a.Status != dependency.Live || a.Generation != live.Generation || a.Parts["payload"].Status != dependency.PartPresent {
		t.Errorf("the live asset: %+v", a)
	}
	if a := b.asset("gone"); a.Deletion != d.ID || a.Status != dependency.Deleted {
		t.Errorf("the deleted asset: %+v", a)
	}
	ghost := b.asset("ghost")
	if ghost.Status != dependency.Deleted || ghost.Owner != "default" || ghost.Parts["payload"].Status != dependency.PartErased || b.del("ghost").ID != ghost.Deletion {
		t.Errorf("the ghost: %+v", ghost)
	}
	if u := b.usage("acme"); u.Assets != 2 || u.Pending != 0 {
		t.Errorf("usage: %+v", u)
	}
	again := b.create("item", "ghost")
	if again.Generation <= older {
		t.Error("an asset with the ghost's id is not in a later generation")
	}
}

func TestSweepOfANewInstallationFindsNothingAndIsNotRefused(t *testing.T) {
	b, s := sweeping(t)
	daily, log := b.sweeper(b.graph, s, sweepsDaily)
	for range 2 {
		if err := daily.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if log.count(hasSwept) != 1 || log.count("the sweep removes nothing") != 0 {
		t.Errorf("the log says\n%s", log.text.String())
	}
	if found := b.sweep(true); found.Total != 0 {
		t.Errorf("found %s", pretty(found))
	}
}

func TestSweepStopsWhereItCannotBeSure(t *testing.T) {
	b, s := sweeping(t)
	older := generationAt(time.Hour)
	refused := func(what string, apply bool, name problem.Name) {
		t.Helper()
		flags := len(b.flags())
		if _, err := b.Sweep(b.ctx, apply); !errors.Is(err, name) {
			t.Errorf("%s, apply %t: %v, want %s", what, apply, err, name)
		}
		if n := len(b.flags()); n != flags {
			t.Errorf("%s: %d flags more", what, n-flags)
		}
	}
	s.pages["assets"] = [][]events.Lodger{{b.objects("ghost", older, 1)}}
	refused("an empty graph", false, problem.EmptyGraph)
	refused("an empty graph", true, problem.EmptyGraph)
	s.pages["assets"] = [][]events.Lodger{{b.objects("ghost", "", 1)}}
	refused("an empty graph, and a thing that tells no generation", true, problem.EmptyGraph)
	s.pages["assets"] = [][]events.Lodger{{b.objects("ghost", older, 1)}}
	live := b.create("item", "live")
	s.there["live/note"] = true
	s.fail = problem.New(problem.ListingFailed, "broken off")
	refused("a listing that fails", true, problem.ListingFailed)
	s.fail = errors.New("something else")
	refused("a page that fails", true, problem.ListingFailed)
	s.fail = problem.New(problem.Unavailable, "away")
	refused("an asset service that is away", true, problem.Unavailable)
	s.fail = nil
	ahead := generationAt(-time.Hour)
	for _, id := range []string{"ghost", "live"} {
		s.pages["assets"] = [][]events.Lodger{{b.objects("first", older, 1)}, {b.objects(id, ahead, 1)}}
		refused("something of "+id+" that is newer than the graph", true, problem.GraphBehind)
	}
	s.pages["assets"] = [][]events.Lodger{{b.objects("live", live.Generation, 1)}}
	if found := b.sweep(true); found.Total != 0 {
		t.Errorf("found %v", told(found))
	}
	if _, err := b.Sweep(b.as("acme"), false); !errors.Is(err, problem.Forbidden) {
		t.Errorf("who is no operator: %v", err)
	}
}

// H-49: a graph that knows next to nothing would make an orphan of everything.
func TestSweepRefusesToRemoveMoreThanTheShare(t *testing.T) {
	b, s := sweeping(t)
	b.create("bare", "one")
	older := generationAt(time.Hour)
	var page []events.Lodger
	for i := range 3 {
		l := b.objects(fmt.Sprint("ghost-", i), older, 1)
		if i > 0 {
			l.Owner = "acme"
		}
		page = append(page, l)
	}
	s.pages["assets"] = [][]events.Lodger{page}
	want := []dependency.OwnerShare{{Owner: "acme", Candidates: 2, Live: 1}}
	if diff := cmp.Diff(want, b.sweep(false).ExceedsShare); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Sweep(b.ctx, true); !errors.Is(err, problem.ShareExceeded) {
		t.Errorf("more than the share: %v", err)
	}
	if n := len(b.flags()); n != 0 {
		t.Errorf("%d flags", n)
	}
	b.create("bare", "two")
	if found := b.sweep(true); !found.Applied || found.Total != 3 {
		t.Errorf("found %+v", found)
	}
}

// What was an orphan when it was found, and is none when it would go, stays (H-47).
func TestAnOrphanThatIsCreatedMeanwhileStays(t *testing.T) {
	b, s := sweeping(t)
	b.create("bare", "something")
	older := generationAt(time.Hour)
	s.pages["assets"] = [][]events.Lodger{{b.objects("late", older, 1)}}
	surveys := 0
	s.asked = func(shelf events.Shelf) {
		if shelf.Prefix != "payload/" {
			return
		}
		if surveys++; surveys == 2 { // after the count, before the transaction
			late := b.create("item", "late")
			s.pages["assets"] = [][]events.Lodger{{b.objects("late", late.Generation, 1)}}
		}
	}
	if found := b.sweep(true); found.Total != 1 || !found.Applied {
		t.Errorf("found %+v", found)
	}
	if n := len(b.flags()); n != 0 {
		t.Errorf("%d flags", n)
	}
}
