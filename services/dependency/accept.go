package dependency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// dependantsShown is how many dependants a refusal names.
const dependantsShown = 100

// acceptItem is one request for a deletion.
type acceptItem struct {
	by   Caller
	id   string
	part string // empty: the whole asset
	// batch that it belongs to; empty: none
	batch string
	DeleteRequest
	expired *expiry // set when retention asks: it goes only if it has expired still
	// seen is the plan as of just before the transaction, where IfPlan asks for one.
	seen *planHash
}

type acceptResult struct {
	deletion Deletion
	err      error
	closure  bool // it needs a closure, and so a turn of its own
	unseen   bool // nothing stands against it but IfPlan, which cannot be compared before the stores were looked into
}

// Delete is T1: it checks, and in one graph transaction turns the node into a tombstone and writes the command flag. See
// CONTRACT section 5 for the answers and the order of the checks.
func (s *Service) Delete(ctx context.Context, id string, r DeleteRequest) (Deletion, error) {
	return s.delete(ctx, acceptItem{id: id, DeleteRequest: r})
}

func (s *Service) delete(ctx context.Context, it acceptItem) (Deletion, error) {
	var err error
	if it.by, err = caller(ctx); err != nil {
		return Deletion{}, err
	}
	if err := policy.ValidateID(it.id); err != nil {
		return Deletion{}, assetNotFound(it.id)
	}
	began := time.Now()
	res, err := s.acceptances.Do(ctx, it)
	if err == nil && res.unseen {
		res, err = s.acceptAsPlanned(ctx, it)
	}
	if problemNamed(res.err, problem.PlanChanged) {
		res.err = s.nameChanges(ctx, it, res.err)
	}
	if err != nil {
		return Deletion{}, err
	}
	s.cfg.Meter.Accepted(time.Since(began))
	if res.err != nil || it.Wait <= 0 || res.deletion.Status == Deleted || res.deletion.DueAt.After(s.now().Add(it.Wait)) {
		return res.deletion, res.err // what is not even due by then need not be waited for
	}
	return s.await(ctx, res.deletion, it.Wait)
}

// acceptAsPlanned looks into the stores, and asks again: what the stores hold is compared just before the transaction, and
// the rest in it.
func (s *Service) acceptAsPlanned(ctx context.Context, it acceptItem) (acceptResult, error) {
	for {
		seen, err := s.planNow(ctx, it)
		switch p := problem.As(err); {
		case err == nil:
			it.seen = &seen
		case p == nil || p.Name == problem.Unavailable:
			return acceptResult{}, err
		} // any other refusal is one of an asset that has changed just now, and the transaction's to give
		if res, err := s.acceptances.Do(ctx, it); err != nil || !res.unseen {
			return res, err
		}
	}
}

// accept is one transaction of requests. What was refused only because of dependants is looked at again while others of
// the same transaction went, so that a batch answers like some order of its requests one by one.
func (s *Service) accept(ctx context.Context, items []acceptItem) ([]acceptResult, error) {
	var results []acceptResult
	var accepted acceptedWork
	err := s.graph.Update(ctx, func(tx Tx) error {
		results, accepted = make([]acceptResult, len(items)), acceptedWork{}
		var closures []int
		todo := make([]int, len(items))
		for i := range items {
			todo[i] = i
		}
		for len(todo) > 0 {
			w := &acceptWorld{world: newWorld(tx, s.now()), s: s}
			if err := w.read(ctx, items, todo); err != nil {
				return err
			}
			var again []int
			for _, i := range todo {
				switch results[i] = w.accept(ctx, items[i]); {
				case results[i].closure:
					closures = append(closures, i)
				case problemNamed(results[i].err, problem.HasDependants):
					again = append(again, i)
				}
			}
			if err := w.flush(ctx); err != nil {
				return err
			}
			accepted.add(w.world)
			if len(w.deletions) == 0 {
				break
			}
			todo = again
		}
		for _, i := range closures {
			w := &acceptWorld{world: newWorld(tx, s.now()), s: s}
			if err := w.read(ctx, items, []int{i}); err != nil {
				return err
			}
			if results[i] = w.accept(ctx, items[i]); results[i].closure {
				var err error
				if results[i], err = w.acceptClosure(ctx, items[i]); err != nil {
					return err
				}
			}
			if err := w.flush(ctx); err != nil {
				return err
			}
			accepted.add(w.world)
		}
		return nil
	})
	if err == nil {
		s.handOver(accepted)
	}
	return results, err
}

// acceptedWork is what a committed transaction leaves to publish.
type acceptedWork struct {
	deletions []DeletionRecord
	erasures  []Erasure
	commands  []Command
	entries   []Entry
}

func (a *acceptedWork) add(w *world) {
	a.deletions = append(a.deletions, w.deletions...)
	a.erasures = append(a.erasures, w.erasures...)
	a.commands = append(a.commands, w.commands...)
	a.entries = append(a.entries, w.entries...)
}

// handOver gives the flags that were written with this replica's claim to the relays, so that nothing waits for R1.
func (s *Service) handOver(a acceptedWork) {
	s.handOverEntries(a.entries, a.deletions)
	if s.cfg.SendCommands == nil {
		return
	}
	deletions, erasures := index(a.deletions, a.erasures)
	var mine []Command
	for _, c := range a.commands {
		if c.ClaimedBy == s.cfg.Replica {
			mine = append(mine, c)
		}
	}
	if flags := s.flags(mine, deletions, erasures); len(flags) > 0 {
		s.cfg.SendCommands(flags)
	}
}

// acceptWorld adds what decides on requests: who depends on whom, and remembered keys.
type acceptWorld struct {
	*world
	s          *Service
	dependants map[string]Dependants
	wider      map[string]bool // assets whose deletion takes others along or detaches links
	known      map[Key]Key     // by (Subject, Key)
	running    map[string]DeletionRecord
	paused     bool // then flags wait for the relay, which publishes nothing either
}

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
	if w.dependants, err = w.tx.Dependants(ctx, ids, w.s.policy.LinkTypes(policy.Restrict), dependantsShown); err != nil {
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

func onHold(n Node) error {
	return problem.New(problem.OnHold, "asset %q is on hold since %s: %s", n.ID, n.Hold.At.Format(time.RFC3339), n.Hold.Reason)
}

// seenBy gives the assets that exist for a caller; others count, but are not named.
func seenBy(ctx context.Context, tx Tx, by Caller, ids []string) ([]string, error) {
	if by.Operator {
		return ids, nil
	}
	nodes, err := tx.Nodes(ctx, ids)
	seen := []string{}
	for _, id := range ids {
		if n, ok := nodes[id]; ok && by.sees(n.Owner) {
			seen = append(seen, id)
		}
	}
	return seen, err
}

func hasDependants(id string, d Dependants) error {
	who := fmt.Sprintf("%d assets depend", d.Total)
	if d.Total == 1 {
		who = "1 asset depends"
	}
	if len(d.First) == 0 {
		return problem.New(problem.HasDependants, "%s on %q, of other owners; ask an operator", who, id).
			With("dependants", []string{}).With("dependants_total", d.Total)
	}
	return problem.New(problem.HasDependants, "%s on %q: %s; delete first what depends on it, or ask with_dependants", who, id, quoteSome(d.First, d.Total)).
		With("dependants", d.First).With("dependants_total", d.Total)
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

// quoteSome lists the first ids for a sentence.
func quoteSome(ids []string, total int) string {
	const few = 3
	if len(ids) > few {
		ids = ids[:few]
	}
	list := quoteAll(ids)
	if total > len(ids) {
		list += ", …"
	}
	return strings.TrimSpace(list)
}

func problemNamed(err error, name problem.Name) bool {
	p := problem.As(err)
	return p != nil && p.Name == name
}
