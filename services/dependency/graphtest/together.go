package graphtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// pair is two replicas on one graph: their transactions meet in the store alone.
type pair struct {
	*rules
	other *rules
}

func testTogether(t *testing.T, g dependency.Graph) {
	p := pair{newRules(t, g), newRules(t, g)}
	// H-53, H-70: two last users at once.
	t.Run("the target of two last users", func(t *testing.T) {
		p.each(t, func(target, a, b string) {
			p.create(a, link(a, uses, target))
			p.create(b, link(b, uses, target))
			var taken [2]int
			together(func() { taken[0] = p.taken(p.rules, a, false) }, func() { taken[1] = p.taken(p.other, b, false) })
			if taken[0]+taken[1] != 3 {
				t.Errorf("taken by the two: %v", taken)
			}
			p.gone(target, a, b)
		})
	})
	// H-67: a ring deleted from two sides.
	t.Run("a ring from two sides", func(t *testing.T) {
		p.each(t, func(target, a, b string) {
			p.create(a, link(a, needs, target))
			p.create(b, link(b, needs, a))
			p.must(func(ctx context.Context) error { return p.Link(ctx, target, needs, b) })
			var taken [2]int
			together(func() { taken[0] = p.taken(p.rules, target, true) }, func() { taken[1] = p.taken(p.other, b, true) })
			if taken[0] != 3 || taken[1] != 3 { // both are told of the one deletion
				t.Errorf("taken by the two: %v", taken)
			}
			p.gone(target, a, b)
		})
	})
	// H-53: the last user goes while another one comes.
	t.Run("a new user and the last one that goes", func(t *testing.T) {
		p.each(t, func(target, a, b string) {
			p.create(a, link(a, uses, target))
			p.create(b)
			var linked error
			together(func() { p.taken(p.rules, a, false) }, func() {
				linked = p.other.call(func(ctx context.Context) error { return p.other.Link(ctx, b, uses, target) })
			})
			switch status := p.status(target); {
			case linked == nil && status != dependency.Live:
				t.Errorf("%s has a new user and is %s", target, status)
			case linked != nil && (!errors.Is(linked, problem.LinkTargetDeleting) || status != dependency.Deleting):
				t.Errorf("the link was refused with %v, and the target is %s", linked, status)
			}
		})
	})
}

// each runs fn for some targets that exist, with two further ids.
func (p pair) each(t *testing.T, fn func(target, a, b string)) {
	for i := range rounds(40) {
		prefix := fmt.Sprintf("%s %d ", t.Name(), i)
		p.create(prefix + "target")
		fn(prefix+"target", prefix+"a", prefix+"b")
	}
}

func (p pair) create(id string, links ...dependency.Link) {
	p.t.Helper()
	to := []dependency.LinkTo{}
	for _, l := range links {
		to = append(to, dependency.LinkTo{Type: l.Type, To: l.To})
	}
	p.must(func(ctx context.Context) error {
		_, _, err := p.PutAsset(ctx, id, dependency.Put{Kind: "bare", Links: &to})
		return err
	})
}

// taken deletes an asset and tells how many went with it.
func (p pair) taken(by *rules, id string, withDependants bool) (total int) {
	err := by.call(func(ctx context.Context) error {
		d, err := by.Delete(ctx, id, dependency.DeleteRequest{WithDependants: withDependants})
		total = d.Assets.Total
		return err
	})
	if err != nil {
		by.t.Errorf("delete %s: %v", id, err)
	}
	return total
}

func (p pair) status(id string) (s dependency.Status) {
	p.must(func(ctx context.Context) error {
		a, err := p.Asset(ctx, id)
		s = a.Status
		return err
	})
	return s
}

func (p pair) gone(ids ...string) {
	p.t.Helper()
	for _, id := range ids {
		if s := p.status(id); s != dependency.Deleting {
			p.t.Errorf("%s is %s", id, s)
		}
	}
}
