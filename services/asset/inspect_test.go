package asset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

func target(kind, id, generation string) events.Target {
	return events.Target{Asset: id, Kind: kind, Owner: "acme", Generation: generation}
}

// look looks at all targets to their ends, page by page, and tells how many questions that took.
func (w *world) look(targets ...events.Target) (sights []events.Sight, questions int) {
	w.t.Helper()
	inspector := asset.NewInspector(w.config)
	sights = make([]events.Sight, len(targets))
	for at := 0; at < len(targets); {
		seen, err := inspector.Look(w.t.Context(), targets[at:])
		if err != nil {
			w.t.Fatalf("look: %v", err)
		}
		questions++
		for n, s := range seen {
			for {
				sights[at+n].Found = append(sights[at+n].Found, s.Found...)
				sights[at+n].Unseen = append(sights[at+n].Unseen, s.Unseen...)
				if s.Next == "" {
					break
				}
				again := targets[at+n]
				again.After = s.Next
				page, err := inspector.Look(w.t.Context(), []events.Target{again})
				if err != nil || len(page) != 1 {
					w.t.Fatalf("look on: %v, %d sights", err, len(page))
				}
				questions++
				s = page[0]
			}
		}
		at += len(seen)
	}
	return sights, questions
}

// told is a sight as one line a thing.
func told(s events.Sight) (lines []string) {
	for _, t := range s.Found {
		lines = append(lines, fmt.Sprintf("%s: %s %s%s %s %d", t.Part, t.Form, t.Collection, t.Bucket, t.Key, t.Bytes))
	}
	for _, u := range s.Unseen {
		lines = append(lines, fmt.Sprintf("%s: unseen %s", u.Part, u.Reason))
	}
	slices.Sort(lines)
	return lines
}

func TestLookTellsWhatAnErasureWouldTake(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.mesh("a", gen2)
	w.mesh("b", gen1)
	before := w.stored()
	sights, _ := w.look(target("mesh", "a", gen1), target("mesh", "gone", gen1), target("bare", "a", gen1))
	below := "payload/a/" + gen1 + "/"
	w.same("a", told(sights[0]), []string{
		"description: document descriptions a/" + gen1 + " 0",
		"payload: marker assets " + below + "b/c 0",
		"payload: upload assets " + below + "d 0",
		"payload: version assets " + below + "a 3",
		"payload: version assets " + below + "a 5",
		"payload: version assets " + below + "b/c 1",
		"thumbnail: version thumbs thumbs/a/" + gen1 + ".png 3",
	})
	w.same("gone", told(sights[1]), []string{})
	w.same("bare", told(sights[2]), []string{})
	for _, thing := range sights[0].Found {
		if thing.Form != events.FormDocument && thing.Version == "" {
			t.Errorf("%+v has no version", thing)
		}
	}
	w.same("the stores afterwards", w.stored(), before)
}

func TestLookKnowsFormerPlacesAttributesAndSingleParts(t *testing.T) {
	w := newWorld(t)
	w.write("bodies", "m/"+gen1, gen1)
	w.put("old", "body/m/"+gen1+"/x", "12")
	w.put("assets", "body/m", "123")
	w.put("assets", "files/deep/er/f", "1234")
	w.write("notes", "f", gen2)
	w.mesh("p", gen2)
	file := target("file", "f", gen2)
	file.Attributes = map[string]any{"path": "deep/er"}
	part := target("mesh", "p", gen1)
	part.Parts = map[string]string{"thumbnail": gen2, "gone": gen2}
	sights, _ := w.look(target("moved", "m", gen1), file, part)
	w.same("moved", told(sights[0]), []string{"body: document bodies m/" + gen1 + " 0", "body: version assets body/m 3", "body: version old body/m/" + gen1 + "/x 2"})
	w.same("file", told(sights[1]), []string{"content: version assets files/deep/er/f 4", "note: document notes f 0"})
	w.same("part", told(sights[2]), []string{"gone: unseen part-not-in-policy", "thumbnail: version thumbs thumbs/p/" + gen2 + ".png 3"})
}

func TestLookDoesNotTakeTheNewerGenerationForTheOlder(t *testing.T) {
	w := newWorld(t)
	old := target("scan", "s", gen1)
	old.Past = []string{"info", "raw"}
	look := func() []string {
		sights, _ := w.look(old)
		return told(sights[0])
	}
	w.put("scans", "raw/s/x", "the newer one's")
	w.write("infos", "s", gen2)
	w.same("with a document of the newer generation", look(), []string{})
	w.documents.Adopt(asset.DocumentRef{Collection: "infos", Key: "s"}, map[string]any{"by": "another program"})
	w.same("with a document of no generation", look(), []string{})
	w.documents.Delete(t.Context(), []asset.DocumentRef{{Collection: "infos", Key: "s", Generation: gen1}})
	w.write("infos", "s", gen1)
	w.same("with a document of the older generation", look(), []string{"info: document infos s 0"})

	mesh := target("mesh", "a", gen1)
	mesh.Past = []string{"description", "payload", "thumbnail"}
	w.mesh("a", gen1)
	sights, _ := w.look(mesh)
	if n := len(sights[0].Found); n != 7 {
		t.Errorf("%d things at places that hold the generation, want 7", n)
	}
}

func TestLookComesInPagesThatFitIntoAMessage(t *testing.T) {
	w := newWorld(t)
	const many = 2300
	name := strings.Repeat("\x01", 150) // six bytes each in JSON
	for n := range many {
		w.put("assets", fmt.Sprintf("payload/big/%s/%05d%s", gen1, n, name), "xy")
	}
	w.put("thumbs", "thumbs/big/"+gen1+".png", "png")
	w.mesh("small", gen1)
	sights, questions := w.look(target("mesh", "small", gen1), target("mesh", "big", gen1), target("mesh", "small", gen1))
	if n := len(sights[1].Found); n != many+1 {
		t.Errorf("%d things of the big one, want %d", n, many+1)
	}
	seen := map[string]bool{}
	for _, thing := range sights[1].Found {
		seen[thing.Key] = true
	}
	if len(seen) != many+1 {
		t.Errorf("%d keys, want %d", len(seen), many+1)
	}
	for _, n := range []int{0, 2} {
		w.same("the small one", told(sights[n]), told(sights[0]))
	}
	if len(sights[0].Found) != 7 || questions < many*1000/(256<<10) {
		t.Errorf("%d things in %d questions", len(sights[0].Found), questions)
	}
}

func TestLookTellsObstaclesAndRefusesWithoutAnAnswer(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.blobs.Block("assets", &asset.Blocked{Reason: asset.ReasonAccessDenied, Detail: "no"})
	sights, _ := w.look(target("mesh", "a", gen1), target("nothing", "a", gen1), target("file", "f", gen1))
	w.same("with a bucket that refuses", told(sights[0]), []string{"description: document descriptions a/" + gen1 + " 0",
		"payload: unseen access-denied", "thumbnail: version thumbs thumbs/a/" + gen1 + ".png 3"})
	w.same("of an unknown kind", told(sights[1]), []string{": unseen kind-not-in-policy"})
	w.same("without the attribute", told(sights[2]), []string{"content: unseen location-invalid"})

	w.probe.Before = func(_ context.Context, c memory.Call) error {
		if c.Store == "blobs" {
			return fmt.Errorf("connection refused")
		}
		return nil
	}
	_, err := asset.NewInspector(w.config).Look(t.Context(), []events.Target{target("mesh", "a", gen1)})
	if p := problem.As(err); p == nil || p.Name != problem.Unavailable || p.Members["store"] != "blobs" {
		t.Errorf("a store that is away: %v", err)
	}
}

func TestLookRefusesAForeignMark(t *testing.T) {
	w := newWorld(t)
	for _, after := range []string{"x", "9 ", "-1 "} {
		bad := target("mesh", "a", gen1)
		bad.After = after
		if _, err := asset.NewInspector(w.config).Look(t.Context(), []events.Target{bad}); problem.As(err) == nil || problem.As(err).Name != problem.InvalidRequest {
			t.Errorf("%q: %v", after, err)
		}
	}
}
