package dependency

import (
	"context"
	"maps"
	"slices"
	"time"
)

// world is the part of the graph that one transaction decides on: read in bulk, changed in memory item by item, and
// written back in bulk. An item that is refused has changed nothing in it.
type world struct {
	tx  Tx
	now time.Time
	// planning: nothing is locked, and nothing will be written.
	planning bool

	nodes map[string]Node
	dirty map[string]bool
	// adopted nodes were there before us; they have got a generation here, which they keep if they are saved
	adopted map[string]Node
	// claims are the places that nodes from before us take when they are saved, contested those that others hold: by asset
	claims    map[string][]string
	contested map[string]string
	usage     map[string]Usage  // deltas
	erasing   map[string]string // owner that is being erased → its batch; see readErasing
	// places to give to assets
	places map[string]string

	deletions   []DeletionRecord
	erasures    []Erasure
	commands    []Command
	entries     []Entry
	keys        []Key
	saveLinks   []Link
	removeLinks []Link
}

func newWorld(tx Tx, now time.Time) *world {
	return &world{tx: tx, now: now, nodes: map[string]Node{}, dirty: map[string]bool{}, adopted: map[string]Node{}, usage: map[string]Usage{}, places: map[string]string{},
		claims: map[string][]string{}, contested: map[string]string{}}
}

// load locks and reads nodes; it comes before every other read that decides.
func (w *world) load(ctx context.Context, l Locks) error {
	if !w.planning {
		if err := w.tx.Lock(ctx, l); err != nil {
			return err
		}
	}
	nodes, err := w.tx.Nodes(ctx, l.Assets)
	if err != nil {
		return err
	}
	for id, n := range nodes {
		if _, known := w.adopted[id]; known {
			continue
		}
		if n.Generation == "" { // first contact (CONTRACT section 4, graph)
			w.adopted[id] = n
			n.Generation = newID()
			if n.CreatedAt.IsZero() {
				n.CreatedAt, n.UpdatedAt = w.now, w.now
			}
		}
		w.nodes[id] = n
	}
	return nil
}

// save puts a changed node into the world. An adopted one counts from now on.
func (w *world) save(n Node) {
	if before, ok := w.adopted[n.ID]; ok && !w.dirty[n.ID] {
		w.account(before.Owner, 1, before.Bytes, 0)
	}
	if w.contested[n.ID] == "" {
		for _, place := range w.claims[n.ID] {
			w.places[place] = n.ID
		}
	}
	w.nodes[n.ID] = n
	w.dirty[n.ID] = true
}

// setLinks makes those links that are true and removes the others: what counts is the last word on each.
func (w *world) setLinks(last map[Link]bool) {
	for l, on := range last {
		if on {
			w.saveLinks = append(w.saveLinks, l)
		} else {
			w.removeLinks = append(w.removeLinks, l)
		}
	}
}

// account adds to an owner's counters.
func (w *world) account(owner string, assets, bytes, pending int64) {
	u := w.usage[owner]
	w.usage[owner] = Usage{Assets: u.Assets + assets, Bytes: u.Bytes + bytes, Pending: u.Pending + pending}
}

// tell appends an entry to the trail of a loaded asset; its sequence is dense because the node is locked.
func (w *world) tell(asset string, e Entry) {
	n := w.nodes[asset]
	n.Sequence++
	w.save(n)
	e.ID, e.Asset, e.Sequence, e.Time = newID(), asset, n.Sequence, w.now
	w.entries = append(w.entries, e)
}

// flush writes everything that changed. Counters come last, in the lock order of Locks.
func (w *world) flush(ctx context.Context) error {
	var changed []Node
	for _, id := range slices.Sorted(maps.Keys(w.dirty)) {
		changed = append(changed, w.nodes[id])
	}
	deltas := maps.Clone(w.usage)
	maps.DeleteFunc(deltas, func(_ string, u Usage) bool { return u == Usage{} })
	steps := []func() error{
		func() error { return w.tx.SaveNodes(ctx, changed) },
		func() error { return w.tx.RemoveLinks(ctx, w.removeLinks) },
		func() error { return w.tx.SaveLinks(ctx, w.saveLinks) },
		func() error { return w.tx.SaveDeletions(ctx, w.deletions) },
		func() error { return w.tx.SaveErasures(ctx, w.erasures) },
		func() error { return w.tx.SaveCommands(ctx, w.commands) },
		func() error { return w.tx.Append(ctx, w.entries) },
		func() error { return w.tx.SaveKeys(ctx, w.keys) },
		func() error { return w.tx.SavePlaces(ctx, w.places) },
		func() error { return w.tx.AddUsage(ctx, deltas) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
