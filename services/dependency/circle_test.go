package dependency_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// together deletes assets as a set; all of them must be accepted.
func (b *bench) together(ids ...string) map[string]dependency.Deletion {
	b.t.Helper()
	made := map[string]dependency.Deletion{}
	for _, r := range b.set(dependency.SetRequest{IDs: ids, Reason: "test"}).Results {
		if r.Deletion == nil {
			b.t.Fatalf("%s is refused: %v", r.ID, r.Refusal)
		}
		made[r.ID] = *r.Deletion
	}
	return made
}

func (b *bench) statuses(deletions map[string]dependency.Deletion, ids ...string) (all []dependency.Status) {
	b.t.Helper()
	for _, id := range ids {
		all = append(all, b.deletion(deletions[id].ID).Status)
	}
	return all
}

func TestAssetsThatNeedEachOtherComeBackTogether(t *testing.T) {
	b := newClosureBench(t)
	for _, id := range []string{"a", "b", "c", "user", "base"} {
		b.create("slow", id)
	}
	for _, l := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "a"}, {"user", "a"}, {"c", "base"}} {
		b.link(l[0], "DEPENDS_ON", l[1])
	}
	made := b.together("a", "b", "c", "user", "base")
	refused := func(id, inTheWay string) {
		t.Helper()
		_, err := b.Cancel(b.ctx, made[id].ID)
		if p := problem.As(err); !errors.Is(err, problem.LinkTargetDeleting) || p.Members["deletion"] != made[inTheWay].ID {
			t.Fatalf("cancel of %s: %v", id, err)
		}
	}
	refused("user", "a")
	refused("b", "base") // the circle, too, needs what does not need it
	if _, err := b.Cancel(b.ctx, made["base"].ID); err != nil {
		t.Fatal(err)
	}
	d, err := b.Cancel(b.ctx, made["b"].ID)
	if err != nil || d.ID != made["b"].ID || d.Status != dependency.Cancelled {
		t.Fatalf("cancel of the circle: %s, %v", pretty(d), err)
	}
	want := []dependency.Status{dependency.Cancelled, dependency.Cancelled, dependency.Cancelled, dependency.Scheduled}
	if got := b.statuses(made, "a", "b", "c", "user"); !slices.Equal(got, want) {
		t.Errorf("deletions: %v", got)
	}
	for _, id := range []string{"a", "b", "c"} {
		if got := b.asset(id); got.Status != dependency.Live || len(got.Links) == 0 {
			t.Errorf("%s: %s", id, pretty(got))
		}
		if trail := b.trail(id); len(trail) != 2 {
			t.Errorf("trail of %s: %v", id, trail)
		}
	}
	if _, err := b.Cancel(b.ctx, made["user"].ID); err != nil {
		t.Error(err)
	}
}

func TestACircleOfWhichOneHasBegunDoesNotComeBack(t *testing.T) {
	b := newClosureBench(t)
	b.create("slow", "a")
	b.create("bare", "b", needs("a"))
	b.link("a", "DEPENDS_ON", "b")
	made := b.together("a", "b")
	if got, want := b.statuses(made, "a", "b"), []dependency.Status{dependency.Scheduled, dependency.Deleting}; !slices.Equal(got, want) {
		t.Fatalf("deletions: %v", got)
	}
	_, err := b.Cancel(b.ctx, made["a"].ID)
	if p := problem.As(err); !errors.Is(err, problem.LinkTargetDeleting) || p.Members["deletion"] != made["b"].ID {
		t.Errorf("answer: %v", err)
	}
	if got := b.asset("a"); got.Status != dependency.Deleting {
		t.Errorf("a is %s", got.Status)
	}
}

// TestEverySetCanBeTakenBack: whatever depends on what, some order of cancels brings a whole set back, with its links.
func TestEverySetCanBeTakenBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newClosureBench(t)
		defer b.graph.Close(t.Context())
		g := drawShape(rt, "DEPENDS_ON", "PART_OF", "REFERENCES", "USES")
		g.held = nil
		for _, id := range g.ids {
			b.create("slow", id)
		}
		for _, l := range g.links {
			b.link(l.From, l.Type, l.To)
		}
		open := b.together(g.ids...)
		for len(open) > 0 {
			before := len(open)
			for id, d := range open {
				switch _, err := b.Cancel(b.ctx, d.ID); {
				case err == nil:
					delete(open, id)
				case !errors.Is(err, problem.LinkTargetDeleting):
					rt.Fatal(err)
				}
			}
			if len(open) == before {
				rt.Fatalf("none of %d deletions can be cancelled", before)
			}
		}
		b.advance(2 * time.Hour)
		links := 0
		for _, id := range g.ids {
			a := b.asset(id)
			if links += len(a.Links); a.Status != dependency.Live {
				rt.Fatalf("%s is %s", id, a.Status)
			}
		}
		if links != len(g.links) {
			rt.Fatalf("%d of %d links came back", links, len(g.links))
		}
	})
}
