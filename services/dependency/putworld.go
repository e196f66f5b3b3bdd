package dependency

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// putWorld adds what creations need to know: outgoing links, counters, places.
type putWorld struct {
	*world
	policy   *policy.Policy
	outgoing map[string]map[LinkTo]bool
	relinked map[Link]bool // what outgoing has more (true) and less than the graph
	used     map[string]Usage
	// sequences are those of the last entries of trails without a node.
	sequences map[string]int64
	holders   map[string]string // of places made of attributes
}

func (w *putWorld) read(ctx context.Context, items []putItem) error {
	var locks Locks
	for _, it := range items {
		locks.Assets = append(locks.Assets, it.id)
		if it.put.Links != nil {
			for _, l := range *it.put.Links {
				locks.Assets = append(locks.Assets, l.To)
			}
		}
		locks.Owners = append(locks.Owners, it.owner)
	}
	locks.Assets, locks.Owners = distinct(locks.Assets), distinct(locks.Owners)
	if err := w.load(ctx, locks); err != nil {
		return err
	}
	if err := w.readSequences(ctx, items); err != nil {
		return err
	}
	err := w.readClaims(ctx, w.policy)
	if err != nil {
		return err
	}
	if err = w.readErasing(ctx, w.ownersOf(locks.Owners...)); err != nil {
		return err
	}
	if w.used, err = w.tx.Usage(ctx, locks.Owners); err != nil {
		return err
	}
	w.outgoing = map[string]map[LinkTo]bool{}
	existing := slices.Collect(maps.Keys(w.nodes))
	links, err := w.tx.Outgoing(ctx, existing)
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Hidden == "" {
			w.set(l.From, LinkTo{l.Type, l.To}, true)
		}
	}
	w.holders = map[string]string{}
	held, err := w.tx.Places(ctx, claimsOf(items))
	maps.Copy(w.holders, held)
	return err
}

// readSequences finds where the trails of new assets go on: the trail of one whose tombstone was purged is there still.
func (w *putWorld) readSequences(ctx context.Context, items []putItem) (err error) {
	var fresh []string
	for _, it := range items {
		if _, ok := w.nodes[it.id]; !ok {
			fresh = append(fresh, it.id)
		}
	}
	w.sequences, err = w.tx.LastSequences(ctx, distinct(fresh))
	return err
}

// claimsOf are the places that the items' assets would have for themselves. A subject without its attributes has none
// yet; Check refuses it later.
func claimsOf(items []putItem) (places []string) {
	for _, it := range items {
		claims, err := it.kind.Claims(policy.Subject{ID: it.id, Owner: it.owner, Kind: it.put.Kind, Attributes: it.put.Attributes})
		if err == nil {
			places = append(places, claims...)
		}
	}
	return distinct(places)
}

func (w *putWorld) set(from string, l LinkTo, on bool) {
	if w.outgoing[from] == nil {
		w.outgoing[from] = map[LinkTo]bool{}
	}
	if on {
		w.outgoing[from][l] = true
	} else {
		delete(w.outgoing[from], l)
	}
}

func (w *putWorld) linksOf(id string) []LinkTo {
	return slices.SortedFunc(maps.Keys(w.outgoing[id]), compareLinks)
}

// put decides one item; a refusal leaves the world as it was.
func (w *putWorld) put(it putItem) putResult {
	old, exists := w.nodes[it.id]
	if exists && !it.by.sees(old.Owner) {
		return putResult{err: assetNotFound(it.id)}
	}
	owner := it.owner
	if exists && old.Status != Deleted {
		owner = old.Owner
	}
	if err := w.closed(owner); err != nil {
		return putResult{err: err}
	}
	if open := old.openParts(); old.Status == Deleted && len(open) > 0 { // an orphan of the last generation still goes
		return putResult{err: problem.New(problem.DeletionInProgress, "what was left of asset %q is being deleted by %s; wait until that is done", it.id, open[0])}
	}
	if exists && old.Status == Deleting {
		return putResult{err: problem.New(problem.DeletionInProgress, "asset %q is being deleted by %s; wait until that is done", it.id, old.Deletion)}
	}
	if it.linksOnly && old.Status != Live {
		return putResult{err: problem.New(problem.DeletionInProgress, "asset %q was deleted by %s meanwhile", it.id, old.Deletion)}
	}
	n, outcome, err := w.next(it, old, exists && old.Status == Live)
	if err == nil {
		err = w.targets(it)
	}
	if err == nil {
		err = w.quota(n, old)
	}
	if err == nil && outcome == Created {
		err = w.claim(it, n)
	}
	if err == nil && outcome == Changed {
		err = w.ownPlaces(it.id)
	}
	if err != nil {
		return putResult{err: err}
	}
	relinked := w.relink(it, outcome)
	if outcome == Created || relinked || !sameNode(n, old) {
		n.UpdatedAt = w.now
		w.save(n)
	}
	if outcome == Created {
		w.account(n.Owner, 1, n.Bytes, 0)
	} else {
		w.account(n.Owner, 0, n.Bytes-old.Bytes, 0)
	}
	return putResult{outcome: outcome}
}

// next is the node as the item wants it.
func (w *putWorld) next(it putItem, old Node, live bool) (Node, Outcome, error) {
	n, outcome := old, Changed
	if !live {
		outcome = Created
		n = Node{ID: it.id, Kind: it.put.Kind, Owner: it.owner, Generation: newGeneration(old.Generation), Status: Live,
			CreatedAt: w.now, Sequence: max(old.Sequence, w.sequences[it.id])}
	}
	if n.Kind != it.put.Kind {
		return n, outcome, problem.New(problem.KindChanged, "asset %q is a %s; its kind cannot change while it lives", it.id, n.Kind).At("kind")
	}
	if it.put.Owner != "" && it.put.Owner != n.Owner {
		return n, outcome, problem.New(problem.AttributeFixed, "the owner of %q was fixed at its creation", it.id).At("owner")
	}
	if it.put.Attributes != nil {
		n.Attributes = it.put.Attributes
	}
	if it.put.Bytes != nil {
		n.Bytes = *it.put.Bytes
	}
	if live {
		for _, name := range it.kind.FixedAttributes() {
			if !reflect.DeepEqual(n.Attributes[name], old.Attributes[name]) {
				return n, outcome, attributeFixed(name)
			}
		}
	}
	return n, outcome, it.kind.Check(subjectOf(n))
}

func attributeFixed(name string) error {
	return problem.New(problem.AttributeFixed, "attribute %q makes a place and was fixed at creation", name).At("attributes." + name)
}

// targets checks the ends of the links that the item wants.
func (w *putWorld) targets(it putItem) error {
	if it.put.Links == nil {
		return nil
	}
	for i, l := range *it.put.Links {
		if err := w.linkable(it.by, l.To); err != nil {
			return at(err, fmt.Sprintf("links[%d].to", i))
		}
	}
	return nil
}

// linkable tells whether a link may be made to an asset, whose node is locked.
func (w *world) linkable(by Caller, to string) error {
	n, ok := w.nodes[to]
	switch {
	case !ok || !by.sees(n.Owner):
		return linkTargetNotFound(to)
	case n.Status != Live:
		return problem.New(problem.LinkTargetDeleting, "asset %q is %s by deletion %s; a link to it would hang", to, n.Status, n.Deletion).With("deletion", n.Deletion)
	}
	return w.closed(n.Owner)
}

// quota refuses growth beyond the owner's limit; shrinking and standing still are always allowed.
func (w *putWorld) quota(n, old Node) error {
	limit := w.policy.Quotas.For(n.Owner)
	used, delta := w.used[n.Owner], w.usage[n.Owner]
	assets, bytes := used.Assets+delta.Assets, used.Bytes+delta.Bytes
	moreAssets, moreBytes := int64(0), n.Bytes
	if old.Status == Live && old.Generation == n.Generation {
		moreBytes -= old.Bytes
	} else {
		moreAssets = 1
	}
	switch {
	case limit.Assets > 0 && moreAssets > 0 && assets+moreAssets > limit.Assets:
		return problem.New(problem.QuotaExceeded, "owner %q has %d assets of %d allowed; delete some or ask for more", n.Owner, assets, limit.Assets)
	case limit.Bytes > 0 && moreBytes > 0 && bytes+moreBytes > limit.Bytes:
		return problem.New(problem.QuotaExceeded, "owner %q would use %d bytes of %d allowed; delete some or ask for more", n.Owner, bytes+moreBytes, limit.Bytes)
	}
	return nil
}

// claim takes the places that are made of attributes; they belong to one asset (CONTRACT section 4). It is the last check.
func (w *putWorld) claim(it putItem, n Node) error {
	claims, err := it.kind.Claims(subjectOf(n))
	if err != nil {
		return err
	}
	for _, place := range claims {
		if holder := cmp.Or(w.places[place], w.holders[place], n.ID); holder != n.ID {
			return problem.New(problem.PlaceTaken, "another asset lies at %s already; a place made of attributes belongs to one asset", place)
		}
	}
	for _, place := range claims {
		w.holders[place], w.places[place] = n.ID, n.ID
	}
	return nil
}

// relink makes the outgoing set what the item wants; a new generation starts without the links of the old.
func (w *putWorld) relink(it putItem, outcome Outcome) (changed bool) {
	if it.put.Links == nil {
		return false
	}
	wanted := map[LinkTo]bool{}
	for _, l := range *it.put.Links {
		wanted[l] = true
	}
	for _, l := range w.linksOf(it.id) {
		if !wanted[l] {
			w.set(it.id, l, false)
			w.relinked[Link{From: it.id, Type: l.Type, To: l.To}] = false
			changed = true
		}
	}
	for _, l := range slices.SortedFunc(maps.Keys(wanted), compareLinks) {
		if !w.outgoing[it.id][l] {
			w.set(it.id, l, true)
			w.relinked[Link{From: it.id, Type: l.Type, To: l.To}] = true
			changed = true
		}
	}
	return changed && outcome == Changed
}

// sameNode tells whether a change says nothing new.
func sameNode(a, b Node) bool {
	ja, errA := json.Marshal(a)
	jb, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(ja) == string(jb)
}

func subjectOf(n Node) policy.Subject {
	return policy.Subject{ID: n.ID, Owner: n.Owner, Kind: n.Kind, Generation: n.Generation, Attributes: n.Attributes}
}
