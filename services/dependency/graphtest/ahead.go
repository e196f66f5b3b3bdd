package graphtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// compareAhead looks ahead along the types, up and down, and up alone.
func (m *linkModel) compareAhead(ctx context.Context, tx dependency.Tx, from, types []string, limit int) error {
	for _, down := range [][]string{nil, {uses}, types} {
		want := m.ahead(from, types, down)
		for _, limit := range []int{100, limit} {
			found, err := tx.Ahead(ctx, from, types, down, limit)
			if err != nil {
				return err
			}
			for i, id := range found {
				if !want[id] || slices.Contains(found[:i], id) || slices.Contains(from, id) {
					return fmt.Errorf("ahead of %v, up %v, down %v: %s is not there, or came twice", from, types, down, id)
				}
			}
			if len(found) > limit || limit == 100 && len(found) != len(want) {
				return fmt.Errorf("ahead of %v, up %v, down %v: %d of %d with limit %d", from, types, down, len(found), len(want), limit)
			}
		}
	}
	return nil
}

// ahead is what lies ahead of some assets, themselves left out.
func (m *linkModel) ahead(from, up, down []string) map[string]bool {
	found := map[string]bool{}
	for todo := slices.Clone(from); len(todo) > 0; {
		at := todo[0]
		todo = todo[1:]
		for l, hidden := range m.links {
			next := ""
			switch {
			case hidden != "":
			case l.To == at && slices.Contains(up, l.Type):
				next = l.From
			case l.From == at && slices.Contains(down, l.Type) && m.only(l, down):
				next = l.To
			}
			if next != "" && m.nodes[next].Status == dependency.Live && !found[next] && !slices.Contains(from, next) {
				found[next] = true
				todo = append(todo, next)
			}
		}
	}
	return found
}

// only tells that no other asset has a visible link of the types to the link's target.
func (m *linkModel) only(l dependency.Link, types []string) bool {
	for o, hidden := range m.links {
		if hidden == "" && o.To == l.To && o.From != l.From && slices.Contains(types, o.Type) {
			return false
		}
	}
	return true
}

// testAheadAlongAChain has a chain of which every other link points up, and the others down.
func testAheadAlongAChain(t *testing.T, g dependency.Graph) {
	const length = 300
	chain := nodes("ahead", "ahead", length)
	var links []any
	var ids []string
	for i, n := range chain {
		if ids = append(ids, n.ID); i == 0 {
			continue
		}
		if i%2 == 0 {
			links = append(links, link(n.ID, needs, ids[i-1]))
		} else {
			links = append(links, link(ids[i-1], uses, n.ID))
		}
	}
	save(t, g, append(anys(chain), links...)...)
	for _, limit := range []int{1, 10, length - 1, length + 100} {
		same(t, ids[1:min(limit+1, length)], read(t, g, func(ctx context.Context, tx dependency.Tx) ([]string, error) {
			return tx.Ahead(ctx, ids[:1], []string{needs}, []string{uses}, limit)
		}))
	}
	same(t, []string{ids[1]}, read(t, g, func(ctx context.Context, tx dependency.Tx) ([]string, error) {
		return tx.Ahead(ctx, []string{ids[0], ids[2], "absent"}, []string{"UNHEARD_OF"}, []string{uses}, 1)
	}))
}
