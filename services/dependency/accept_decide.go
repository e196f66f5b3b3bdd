package dependency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// acceptWorld adds what decides on requests: who depends on whom, and remembered keys.
type acceptWorld struct {
	*world
	s          *Service
	dependants map[string]Dependants
	wider      map[string]bool // assets whose deletion takes others along or detaches links; read unless it is given
	known      map[Key]Key     // by (Subject, Key)
	running    map[string]DeletionRecord
	paused     bool // then flags wait for the relay, which publishes nothing either
}

// read locks the assets of the requests to be done, and reads all that decides on them.
func (w *acceptWorld) read(ctx context.Context, items []acceptItem, todo []int) error {
	var ids []string
	var keys []Key
	for _, i := range todo {
		ids = append(ids, items[i].id)
		if k := items[i].IdempotencyKey; k != "" {
			keys = append(keys, Key{Subject: items[i].by.Subject, Key: k})
		}
	}
	ids = distinct(ids)
	if err := w.load(ctx, Locks{Assets: ids}); err != nil {
		return err
	}
	if err := w.readClaims(ctx, w.s.policy); err != nil {
		return err
	}
	if err := w.readDependants(ctx, ids); err != nil {
		return err
	}
	var err error
	if _, w.paused, err = paused(ctx, w.tx); err != nil {
		return err
	}
	found, err := w.tx.Keys(ctx, keys)
	if err != nil {
		return err
	}
	w.known = map[Key]Key{}
	var dids []string
	for _, k := range found {
		if k.Deletion != "" {
			w.known[Key{Subject: k.Subject, Key: k.Key}] = k
			dids = append(dids, k.Deletion)
		}
	}
	for _, n := range w.nodes {
		dids = append(dids, n.Deletion)
		for _, p := range n.Parts {
			dids = append(dids, p.Deletion)
		}
	}
	w.running, err = w.tx.Deletions(ctx, distinct(dids))
	return err
}

// readDependants reads what a deletion of each asset has to reckon with.
func (w *acceptWorld) readDependants(ctx context.Context, ids []string) error {
	var err error
	if w.dependants, err = w.tx.Dependants(ctx, ids, w.s.policy.LinkTypes(policy.Restrict), namesShown); err != nil || w.wider != nil {
		return err
	}
	return w.readWider(ctx, ids)
}

// accept decides one request, in the order of CONTRACT section 5. A refusal leaves the world as it was.
func (w *acceptWorld) accept(ctx context.Context, it acceptItem) acceptResult {
	n, ok := w.nodes[it.id]
	if !ok || !it.by.sees(n.Owner) {
		return acceptResult{err: assetNotFound(it.id)}
	}
	if it.part != "" && !w.s.hasPart(n, it.part) {
		return acceptResult{err: unknownPart(n.Kind, it.part)}
	}
	if it.expired != nil && !it.expired.still(w.s, n, w.now) {
		return acceptResult{err: errKept}
	}
	key := Key{Subject: it.by.Subject, Key: it.IdempotencyKey}
	if k, ok := w.known[key]; ok && it.IdempotencyKey != "" {
		if k.Request != it.hash() {
			return acceptResult{err: problem.New(problem.IdempotencyKeyReused, "this Idempotency-Key came with another request already; use a new one")}
		}
		return w.repeat(ctx, k.Deletion)
	}
	if err := it.matches(n); err != nil {
		return acceptResult{err: err}
	}
	if running := it.takenBy(n); running != "" {
		w.remember(it, key, running)
		return w.repeat(ctx, running)
	}
	if n.Hold != nil {
		return acceptResult{err: onHold(n)}
	}
	if err := w.ownPlaces(n.ID); err != nil {
		return acceptResult{err: err}
	}
	if it.part != "" {
		return w.accepted(it, key, w.entombPart(it, n))
	}
	if w.wider[n.ID] || it.WithDependants && w.dependants[n.ID].Total > 0 || it.IfPlan != "" {
		return acceptResult{closure: true}
	}
	if d := w.dependants[n.ID]; d.Total > 0 {
		var err error
		if d.First, err = seenBy(ctx, w.tx, it.by, d.First); err != nil {
			return acceptResult{err: err}
		}
		return acceptResult{err: hasDependants(n.ID, d)}
	}
	return w.accepted(it, key, w.entomb(it, []string{n.ID}, map[string]string{n.ID: "requested"}))
}

// accepted answers with a deletion of one asset that was just added.
func (w *acceptWorld) accepted(it acceptItem, key Key, d DeletionRecord) acceptResult {
	w.remember(it, key, d.ID)
	return acceptResult{deletion: w.s.deletionView(d, w.erasures[len(w.erasures)-1:], "")}
}

// matches is the condition If-Match, of the asset's generation or of the part's.
func (it acceptItem) matches(n Node) error {
	if it.IfMatch == "" {
		return nil
	}
	if it.part != "" {
		return it.matchesPart(partState(n, it.part))
	}
	if it.IfMatch != n.Generation {
		return problem.New(problem.GenerationMismatch, "asset %q is in generation %s now", n.ID, n.Generation).With("generation", n.Generation)
	}
	return nil
}

// takenBy is the deletion that does already what is asked for, or has done it; empty when there is none.
func (it acceptItem) takenBy(n Node) string {
	if n.Status != Live {
		return n.Deletion
	}
	if it.part == "" {
		return ""
	}
	return partState(n, it.part).Deletion
}

// repeat answers with a deletion that exists already, also one of this very transaction.
func (w *acceptWorld) repeat(ctx context.Context, id string) acceptResult {
	for _, d := range w.deletions {
		if d.ID == id {
			own := slices.DeleteFunc(slices.Clone(w.erasures), func(e Erasure) bool { return e.Deletion != id })
			return acceptResult{deletion: w.s.deletionView(d, own, "")}
		}
	}
	d, ok := w.running[id]
	if !ok {
		return acceptResult{err: fmt.Errorf("read deletion %s: its record is missing from the graph; run `tombstone verify`", id)}
	}
	view, err := w.s.readView(ctx, w.tx, d, -1)
	return acceptResult{deletion: view, err: err}
}

// remember keeps an Idempotency-Key with its deletion; refusals are not remembered.
func (w *acceptWorld) remember(it acceptItem, key Key, deletion string) {
	if it.IdempotencyKey == "" {
		return
	}
	key.Request, key.Deletion = it.hash(), deletion
	w.known[Key{Subject: key.Subject, Key: key.Key}] = key
	w.keys = append(w.keys, key)
}

// hash stands for what makes two requests the same one.
func (it acceptItem) hash() string {
	text := fmt.Sprintf("DELETE\x00%s\x00%t\x00%s\x00%s\x00%s", it.id, it.WithDependants, it.Reason, it.IfMatch, it.IfPlan)
	if it.part != "" {
		text += "\x00parts\x00" + it.part
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
