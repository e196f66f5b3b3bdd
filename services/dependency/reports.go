package dependency

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// unlinkPage bounds how many relationships one transaction removes, so that a dense node does not make it huge.
const unlinkPage = 5000

// HandleReport takes one message of the reports stream (T4 for those that complete). Nil means that the graph has what
// it tells, or has no use for it: a stale, repeated or forged report changes nothing and is only acknowledged.
func (s *Service) HandleReport(ctx context.Context, m saga.Message, _ int) error {
	_, report, err := events.DecodeReport(m.Data)
	if err != nil {
		return err
	}
	refusal, err := s.reports.Do(ctx, report)
	if err != nil {
		return err
	}
	return refusal
}

// applyReports is one transaction of reports. Links of completed assets go first, in pages of their own: past the point
// of no return nothing can want them back.
func (s *Service) applyReports(ctx context.Context, items []any) ([]error, error) {
	results := make([]error, len(items))
	for {
		var w *reportWorld
		more := false
		err := s.graph.Update(ctx, func(tx Tx) error {
			w = &reportWorld{world: newWorld(tx, s.now()), s: s}
			if err := w.read(ctx, items); err != nil {
				return err
			}
			for i, item := range items {
				results[i] = w.apply(item)
			}
			n, err := tx.Unlink(ctx, w.done, unlinkPage)
			if err != nil {
				return err
			}
			if more = n == unlinkPage; more {
				return nil // keep what was removed, and decide again
			}
			return w.finish(ctx)
		})
		if err != nil {
			return nil, err
		}
		if more {
			continue
		}
		s.completed(w)
		if len(w.freed) > 0 { // R2 takes them up, too, but later
			_, err = s.applyReports(ctx, w.freed)
		}
		return results, err
	}
}

// completed tells those who wait, after the commit.
func (s *Service) completed(w *reportWorld) {
	s.sent.forget(w.removed)
	s.handOverEntries(w.entries, slices.Collect(maps.Values(w.records)))
	s.cfg.Meter.Erased(w.erased)
	for _, d := range w.world.deletions {
		if d.Status == Deleted {
			s.waiting.wake(d.ID)
			s.cfg.Meter.Ended(Deleted, d.CompletedAt.Sub(d.RequestedAt))
		}
	}
}

// reportWorld adds what reports act on.
type reportWorld struct {
	*world
	s        *Service
	records  map[string]DeletionRecord
	works    map[ErasureKey]Erasure
	flags    map[ErasureKey][]Command
	changedD map[string]bool
	changedE map[ErasureKey]bool
	done     []string         // assets that are deleted now
	removed  []string         // flags that go with them
	erased   int64            // bytes
	freed    []any            // assets whose deletion may have waited for that of a part
	purged   map[string]int64 // last sequences of the trails of assets without a node
}

// reportKey names what a report is about.
func reportKey(item any) ErasureKey {
	switch r := item.(type) {
	case *events.AssetErased:
		return ErasureKey{r.Deletion, r.Asset}
	case *events.PartErased:
		return ErasureKey{r.Deletion, r.Asset}
	case *events.PartProgress:
		return ErasureKey{r.Deletion, r.Asset}
	case *forced:
		return r.ErasureKey
	case *freed:
		return r.ErasureKey
	}
	return ErasureKey{}
}

func (w *reportWorld) read(ctx context.Context, items []any) error {
	var locks Locks
	var keys []ErasureKey
	for _, item := range items {
		k := reportKey(item)
		keys = append(keys, k)
		locks.Assets, locks.Deletions = append(locks.Assets, k.Asset), append(locks.Deletions, k.Deletion)
	}
	locks.Deletions = distinct(locks.Deletions)
	roots, err := w.tx.Deletions(ctx, locks.Deletions) // the root's trail tells of the completion, so it is locked too
	if err != nil {
		return err
	}
	for _, d := range roots {
		locks.Assets = append(locks.Assets, d.Root)
	}
	locks.Assets = distinct(locks.Assets)
	if err := w.load(ctx, locks); err != nil {
		return err
	}
	if err := w.readPurged(ctx, items); err != nil {
		return err
	}
	if w.records, err = w.tx.Deletions(ctx, locks.Deletions); err != nil {
		return err
	}
	if w.works, err = w.tx.Erasures(ctx, keys); err != nil {
		return err
	}
	commands, err := w.tx.Commands(ctx, CommandFilter{Erasures: slices.Collect(maps.Keys(w.works))})
	w.flags = map[ErasureKey][]Command{}
	for _, c := range commands {
		k := ErasureKey{c.Deletion, c.Asset}
		w.flags[k] = append(w.flags[k], c)
	}
	w.changedD, w.changedE = map[string]bool{}, map[ErasureKey]bool{}
	return err
}

// apply is the rule of T4: a report acts only if its deletion is the node's, or one of a part that is not done, in its
// generation, and past the point of no return; else it is only acknowledged.
func (w *reportWorld) apply(item any) error {
	k := reportKey(item)
	e, known := w.works[k]
	n, d := w.nodes[k.Asset], w.records[k.Deletion]
	if number := recheckOf(item); number > 0 {
		w.rechecked(k, number, item)
		return nil
	}
	if !known || e.Done || d.Status != Deleting || !concerns(n, d, e) {
		return nil
	}
	e.Steps = slices.Clone(e.Steps)
	switch r := item.(type) {
	case *events.PartProgress:
		w.progress(&e, &d, r)
	case *events.PartErased:
		w.partErased(&e, &d, r.PartEvidence)
	case *events.AssetErased:
		for _, p := range r.Parts {
			w.partErased(&e, &d, p)
		}
		if missing := unfinished(e); len(missing) > 0 {
			w.s.log.Error("report of an erased asset lacks evidence of parts; it does not complete", "deletion", d.ID, "asset", e.Asset, "parts", missing)
			break
		}
	case *forced:
		w.force(&e, &d, r)
	case *freed:
	default:
		return fmt.Errorf("apply report: unexpected type %T", item)
	}
	if _, alive := item.(*events.PartProgress); !alive && len(unfinished(e)) == 0 {
		w.complete(&e, &d)
	}
	w.works[k], w.changedE[k] = e, true
	w.records[d.ID], w.changedD[d.ID] = d, true
	return nil
}

// unfinished lists the parts that are not seen to be absent yet.
func unfinished(e Erasure) (parts []string) {
	for _, s := range e.Steps {
		if s.Status != StepErased {
			parts = append(parts, s.Part)
		}
	}
	return parts
}

// complete is T4 for one asset, and for its deletion when it was the last.
func (w *reportWorld) complete(e *Erasure, d *DeletionRecord) {
	k, n := ErasureKey{e.Deletion, e.Asset}, w.nodes[e.Asset]
	if d.part() == "" && len(n.openParts()) > 0 {
		return // what a deletion of a part has not finished is there still; its end comes back here
	}
	e.Done, e.CheckAt = true, w.recheckAt(*e)
	if d.part() != "" {
		w.completePart(*e, *d)
	} else {
		w.completeAsset(n, *e, *d)
	}
	sent := w.s.sent.peek(flagIDs(w.flags[k]))
	for _, c := range w.flags[k] {
		w.removed = append(w.removed, c.ID)
		if at, ok := sent[c.ID]; ok && d.SentAt.IsZero() {
			d.SentAt = at
		}
	}
	if d.SentAt.IsZero() { // another process sent it; that it was sent is certain now
		d.SentAt = w.now
	}
	if d.Done++; d.Done < d.Total {
		return
	}
	d.Status, d.CompletedAt, d.Blocked = Deleted, w.now, nil
	w.tell(d.Root, Entry{Type: events.TypeDeletionCompleted, Deletion: d.ID, Generation: w.nodes[d.Root].Generation, By: d.RequestedBy, Reason: d.Reason,
		Part: d.part()})
}

func (w *reportWorld) completeAsset(n Node, e Erasure, d DeletionRecord) {
	n.Status, n.Parts = Deleted, erasedParts(e, d.Reason)
	w.save(n)
	w.account(n.Owner, -1, -n.Bytes, -n.Bytes)
	w.done = append(w.done, n.ID)
	w.tell(n.ID, Entry{Type: events.TypeAssetErased, Deletion: d.ID, Generation: e.Generation, By: d.RequestedBy, Reason: d.Reason})
}

// finish writes everything; places made of attributes are free again.
func (w *reportWorld) finish(ctx context.Context) error {
	for id := range w.changedD {
		w.world.deletions = append(w.world.deletions, w.records[id])
	}
	for k := range w.changedE {
		w.erasures = append(w.erasures, w.works[k])
	}
	if err := w.tx.RemoveCommands(ctx, w.removed); err != nil {
		return err
	}
	if err := w.tx.ReleasePlaces(ctx, w.done); err != nil {
		return err
	}
	return w.flush(ctx)
}
