package graphtest

import (
	"context"
	"testing"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// testHideMany hides and shows many of the links to one target in one call, for which a store may walk along all links of
// that target.
func testHideMany(t *testing.T, g dependency.Graph) {
	const sources, most = 1500, 1000
	first, second := newID(), newID()
	want := map[dependency.Link]string{} // without Hidden → Hidden
	var ids []string
	var spokes, others []dependency.Link
	for i, s := range nodes("rim", "wheel", sources) {
		ids, spokes = append(ids, s.ID), append(spokes, link(s.ID, needs, "wheel"))
		if i%2 == 0 {
			others = append(others, link(s.ID, uses, "wheel"))
		}
	}
	check := func(changed []dependency.Link) {
		t.Helper()
		save(t, g, anys(changed)...)
		all, hidden := map[dependency.Link]bool{}, map[dependency.Link]bool{}
		for _, l := range changed {
			want[link(l.From, l.Type, l.To)] = l.Hidden
		}
		for l, by := range want {
			if l.Hidden = by; by == first {
				hidden[l] = true
			}
			all[l] = true
		}
		same(t, all, outgoing(t, g, ids...))
		same(t, hidden, linkSet(read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Link, error) {
			return tx.HiddenLinks(ctx, []string{"wheel"}, first)
		})))
	}
	save(t, g, append(anys(nodes("rim", "wheel", sources)), node("wheel", "wheel"))...)
	check(append(spokes[:sources-1:sources-1], others...)) // one is not there yet
	check(hiddenBy(first, spokes[:most]))
	check(append(hiddenBy(second, spokes[:most/2]), hiddenBy("", spokes[most/2:most])...)) // not all alike
	check(spokes)                                                                          // one is made
	check(append(hiddenBy(first, spokes), hiddenBy(second, others)...))
	check(append(spokes, others...))
}

// hiddenBy gives the links as a deletion hides them.
func hiddenBy(deletion string, links []dependency.Link) (hidden []dependency.Link) {
	for _, l := range links {
		l.Hidden = deletion
		hidden = append(hidden, l)
	}
	return hidden
}
