package dependency

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

const (
	// sweepActor is who removes orphans, in the trail.
	sweepActor = "sweep"
	// sweepPage is how many nodes are read at a time.
	sweepPage = 500
	// surveyTimeout bounds one question to the asset service.
	surveyTimeout = time.Minute
)

// Sweep looks for orphans: what lies at places of the policy and belongs to no asset; and the other way round for documents
// that live assets should have and have not, which are only told. With apply the deletion of the orphans begins, each decided
// again under the lock. It reads everything, page by page, and remembers only counts, the first candidates, and a number for
// each owner.
//
// It stops, and removes nothing, when the graph is empty, when an orphan is newer than everything in the graph (a backup of
// the graph was restored), when a listing fails, or when an owner would lose too large a share.
func (s *Service) Sweep(ctx context.Context, apply bool) (Findings, error) {
	by, err := operator(ctx)
	if err != nil {
		return Findings{}, err
	}
	if s.cfg.Stores == nil {
		return Findings{}, problem.New(problem.Unavailable, "this process does not reach the asset service").With("store", "asset service")
	}
	w := &sweep{s: s, before: s.now().Add(-s.policy.Sweep.MinAge), owners: map[string]int{}, findings: Findings{Candidates: []Candidate{}}}
	if err := w.census(ctx); err != nil {
		return Findings{}, err
	}
	if err := w.survey(ctx, w.find); err != nil {
		return Findings{}, err
	}
	if w.findings.ExceedsShare, err = s.exceedsShare(ctx, w.owners); err != nil || !apply {
		return w.findings, err
	}
	if len(w.findings.ExceedsShare) > 0 {
		return Findings{}, s.shareExceeded(w.findings.ExceedsShare)
	}
	s.log.Info("orphans are removed", "by", by.Subject, "total", w.findings.Total, "bytes", w.findings.Bytes)
	w.findings.Applied = true
	return w.findings, w.survey(ctx, w.remove)
}

// settingSweep keeps when the schedule last began a sweep.
const settingSweep = "sweep"

// RunSweep sweeps by the policy's schedule until ctx ends; not at all when that says only by hand.
func (s *Service) RunSweep(ctx context.Context) error {
	every := s.policy.Sweep.Every
	if every <= 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(max(min(time.Minute, every/2), time.Millisecond))
	defer tick.Stop()
	scheduled := WithCaller(ctx, Caller{Subject: sweepActor, Operator: true})
	for {
		due, err := s.takeTurn(ctx, settingSweep, every)
		if due && err == nil {
			_, err = s.Sweep(scheduled, true)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the sweep did not come to its end; look at a dry run: tombstone sweep", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sweep is one run.
type sweep struct {
	s        *Service
	before   time.Time // what is younger stays
	newest   string    // the greatest generation in the graph
	findings Findings
	owners   map[string]int // how many orphans each has
	last     events.Lodger  // the last orphan counted: its place may go on in the next page
}

// census reads every node: the newest generation, and which live assets lack a document.
func (w *sweep) census(ctx context.Context) error {
	f := NodeFilter{Limit: sweepPage}
	for {
		var nodes []Node
		err := w.s.graph.View(ctx, func(tx Tx) (err error) {
			nodes, err = tx.ListNodes(ctx, f)
			return err
		})
		if err != nil {
			return err
		}
		for _, n := range nodes {
			w.newest = max(w.newest, n.Generation)
			for _, p := range n.Parts {
				w.newest = max(w.newest, p.Generation)
			}
		}
		if err := w.missing(ctx, nodes); err != nil {
			return err
		}
		if len(nodes) < f.Limit {
			break
		}
		f.After = nodes[len(nodes)-1].ID
	}
	if w.newest == "" {
		return problem.New(problem.EmptyGraph, "there is no asset in the graph, so that everything would be an orphan; look at TOMBSTONE_GRAPH_URI")
	}
	return nil
}

// missing finds live assets whose documents are not there, in a page of nodes. Objects cannot be missed: a part may have none.
func (w *sweep) missing(ctx context.Context, nodes []Node) error {
	var targets []events.Target
	for _, n := range nodes {
		if t, ok := w.documentsOf(n); ok {
			targets = append(targets, t)
		}
	}
	return w.s.lookAll(ctx, targets, func(i int, seen events.Sight) error {
		w.countMissing(targets[i], seen)
		return nil
	})
}

// documentsOf is what to look at of a node: the documents that it should have by now.
func (w *sweep) documentsOf(n Node) (t events.Target, ok bool) {
	kind, known := w.s.policy.Kind(n.Kind)
	if !known || n.Status != Live || n.Generation == "" {
		return t, false
	}
	parts := map[string]string{}
	for _, p := range kind.Parts {
		if state := partState(n, p.Name); p.Document != nil && state.Status == PartPresent {
			parts[p.Name] = state.Generation
		}
	}
	e := Erasure{Asset: n.ID, Kind: n.Kind, Owner: n.Owner, Generation: n.Generation, Parts: parts}
	return targetOf(e, kind, n.Attributes), len(parts) > 0
}

// countMissing counts the documents that a sight does not tell of; what could not be looked at is not missing.
func (w *sweep) countMissing(t events.Target, seen events.Sight) {
	told := map[string]bool{}
	for _, thing := range seen.Found {
		told[thing.Part] = true
	}
	for _, u := range seen.Unseen {
		told[u.Part] = true
	}
	for _, part := range sortedKeys(t.Parts) {
		if !told[part] && !told[""] {
			w.count(Candidate{Asset: t.Asset, Part: part, Reason: "the document is missing, or was not written yet; there is nothing to remove"})
		}
	}
}

func (w *sweep) count(c Candidate) {
	if len(w.findings.Candidates) < candidatesShown {
		w.findings.Candidates = append(w.findings.Candidates, c)
	}
	w.findings.Total++
	w.findings.Bytes += c.Bytes
}

// survey goes through all shelves, and hands the old orphans of each page to each.
func (w *sweep) survey(ctx context.Context, each func(ctx context.Context, orphans []events.Lodger, why []string) error) error {
	for _, shelf := range w.s.policy.Shelves() {
		for after := ""; ; {
			page, err := w.page(ctx, shelf, after)
			if err != nil {
				return err
			}
			orphans, why, err := w.orphans(ctx, page.Lodgers)
			if err != nil {
				return err
			}
			if err := each(ctx, orphans, why); err != nil {
				return err
			}
			if after = page.Next; after == "" {
				break
			}
		}
	}
	return nil
}

// page asks for one page of a shelf. Whatever keeps it from being whole ends the sweep: a partial listing proves nothing.
func (w *sweep) page(ctx context.Context, shelf policy.Shelf, after string) (events.Survey, error) {
	limited, cancel := context.WithTimeout(ctx, surveyTimeout)
	defer cancel()
	page, err := w.s.cfg.Stores.Survey(limited, events.Shelf{Bucket: shelf.Bucket, Prefix: shelf.Prefix, Collection: shelf.Collection,
		IDField: shelf.IDField, IDType: string(shelf.IDType), After: after})
	if err == nil || errors.Is(err, problem.Unavailable) || errors.Is(err, problem.ListingFailed) || ctx.Err() != nil {
		return page, err
	}
	return page, problem.New(problem.ListingFailed, "a listing broke off, so nothing was removed: %v", err)
}

// orphans picks what is nobody's and old enough out of a page, with the reason for each.
func (w *sweep) orphans(ctx context.Context, lodgers []events.Lodger) (orphans []events.Lodger, why []string, err error) {
	var nodes map[string]Node
	err = w.s.graph.View(ctx, func(tx Tx) (err error) {
		nodes, err = tx.Nodes(ctx, assetsOf(lodgers))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, l := range lodgers {
		o := orphaned(l, nodes[l.Asset])
		switch {
		case o.orphan && (o.ahead || l.Generation > w.newest):
			return nil, nil, problem.New(problem.GraphBehind,
				"%s holds something of asset %q that is newer than all the graph knows: was a backup of the graph restored? Nothing was removed", storeOf(l), l.Asset)
		case o.orphan && w.old(l):
			orphans, why = append(orphans, l), append(why, o.why)
		}
	}
	return orphans, why, nil
}

func assetsOf(lodgers []events.Lodger) (ids []string) {
	for _, l := range lodgers {
		ids = append(ids, l.Asset)
	}
	return distinct(ids)
}

// old tells whether both the newest thing and the generation are older than the policy's sweep.min_age; of what tells no time
// at all, nobody knows.
func (w *sweep) old(l events.Lodger) bool {
	at := l.Written
	if id, err := uuid.Parse(l.Generation); err == nil && id.Version() == 7 {
		seconds, nanos := id.Time().UnixTime()
		if made := time.Unix(seconds, nanos); made.After(at) {
			at = made
		}
	}
	return !at.IsZero() && at.Before(w.before)
}

func storeOf(l events.Lodger) string {
	if l.Collection != "" {
		return "collection " + l.Collection
	}
	return "bucket " + l.Bucket
}

func placeOf(l events.Lodger) string {
	if l.Collection != "" {
		return l.Collection + "/" + l.Place
	}
	return l.Bucket + "/" + l.Place
}

// find counts orphans. A place that goes on in the next page is counted once.
func (w *sweep) find(_ context.Context, orphans []events.Lodger, why []string) error {
	for i, l := range orphans {
		if l.Bucket == w.last.Bucket && l.Collection == w.last.Collection && l.Place == w.last.Place {
			w.findings.Bytes += l.Bytes
			continue
		}
		w.last = l
		w.count(Candidate{Asset: l.Asset, Part: l.Part, Place: placeOf(l), Reason: why[i], Bytes: l.Bytes})
		w.owners[l.Owner]++
	}
	return nil
}
