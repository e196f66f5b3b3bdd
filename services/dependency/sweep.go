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
	// surveyTimeout bounds one question to the asset service.
	surveyTimeout = time.Minute
	// strangersBound is how many places may be nobody's before somebody must be known to the graph.
	strangersBound = 100
)

// Sweep looks for orphans: what lies at places of the policy and belongs to no asset; and the other way round for documents
// that live assets should have and have not, which are only told. It reads everything, page by page, and remembers only counts,
// the first candidates, and a number for each owner; nothing of it outlives the call. With apply the deletion of the orphans
// begins, in pages and in the background, over restarts too, each decided again under the lock.
//
// It stops, and removes nothing, when the graph is empty or knows nothing of what there is, when an orphan is newer than
// everything in the graph (a backup of the graph was restored), when a listing fails, or when an owner would lose too large a
// share.
func (s *Service) Sweep(ctx context.Context, apply bool) (Findings, error) {
	by, err := operator(ctx)
	if err != nil {
		return Findings{}, err
	}
	w := &sweep{s: s, run: s.newSweep(by.Subject), candidates: []Candidate{}, turned: func(context.Context, bool) error { return nil }}
	if err := w.count(ctx); err != nil {
		return Findings{}, err
	}
	found := Findings{Candidates: w.candidates, Total: w.run.Tally.Total, Bytes: w.run.Tally.Bytes}
	if found.ExceedsShare, err = s.exceedsShare(ctx, w.run.Tally.Owners); err != nil || !apply {
		return found, err
	}
	if len(found.ExceedsShare) > 0 {
		return Findings{}, s.shareExceeded(found.ExceedsShare)
	}
	w.run.enter(sweepRemoves)
	if err := s.beginSweep(ctx, w.run); err != nil {
		return Findings{}, err
	}
	found.Applied = true
	return found, nil
}

// sweep is a run at work.
type sweep struct {
	s          *Service
	run        *sweepRun
	candidates []Candidate // the first ones
	// turned is called after every page, with whether something was done with it; its error ends the work.
	turned func(ctx context.Context, changed bool) error
}

// count goes through everything to its end, from where the run is.
func (w *sweep) count(ctx context.Context) error {
	if w.run.Phase == sweepTakesCensus {
		if err := w.census(ctx); err != nil {
			return err
		}
		w.run.enter(sweepCounts)
	}
	if err := w.survey(ctx, w.find); err != nil {
		return err
	}
	if t := w.run.Tally; t.Known == 0 && t.Unknown >= strangersBound {
		return problem.New(problem.EmptyGraph, "the graph knows none of the assets that have something in the stores, %d at least: is TOMBSTONE_GRAPH_URI that of these stores?", t.Unknown)
	}
	return nil
}

func (w *sweep) counted(c Candidate) {
	if len(w.candidates) < candidatesShown {
		w.candidates = append(w.candidates, c)
	}
	w.run.Tally.Total++
	w.run.Tally.Bytes += c.Bytes
}

// orphan is something that is nobody's, and why.
type orphan struct {
	events.Lodger
	why string
}

// survey goes through what is left of all shelves, and hands the old orphans of each page to each.
func (w *sweep) survey(ctx context.Context, each func(ctx context.Context, orphans []orphan) error) error {
	shelves, mark := w.s.policy.Shelves(), &w.run.Mark
	for mark.Shelf < len(shelves) {
		page, err := w.page(ctx, shelves[mark.Shelf], mark.After)
		if err != nil {
			return err
		}
		orphans, err := w.orphans(ctx, page.Lodgers)
		if err != nil {
			return err
		}
		if err := each(ctx, orphans); err != nil {
			return err
		}
		if mark.After = page.Next; page.Next == "" {
			mark.Shelf++
		}
		if err := w.turned(ctx, len(orphans) > 0 && w.run.Phase == sweepRemoves); err != nil {
			return err
		}
	}
	return nil
}

// page asks for one page of a shelf. Whatever keeps it from being whole ends the sweep: a partial listing proves nothing.
func (w *sweep) page(ctx context.Context, shelf policy.Shelf, after string) (events.Survey, error) {
	stores, err := w.s.stores()
	if err != nil {
		return events.Survey{}, err
	}
	limited, cancel := context.WithTimeout(ctx, surveyTimeout)
	defer cancel()
	page, err := stores.Survey(limited, events.Shelf{Bucket: shelf.Bucket, Prefix: shelf.Prefix, Collection: shelf.Collection,
		IDField: shelf.IDField, IDType: string(shelf.IDType), After: after})
	if err == nil || errors.Is(err, problem.Unavailable) || errors.Is(err, problem.ListingFailed) || ctx.Err() != nil {
		return page, err
	}
	return page, problem.New(problem.ListingFailed, "a listing broke off, so nothing was removed: %v", err)
}

// orphans picks what is nobody's and old enough out of a page. With no asset in the graph, whatever lies there refuses the
// sweep, be it ever so young; a new installation, with nothing there either, has nothing to refuse.
func (w *sweep) orphans(ctx context.Context, lodgers []events.Lodger) (orphans []orphan, err error) {
	var nodes map[string]Node
	err = w.s.graph.View(ctx, func(tx Tx) (err error) {
		nodes, err = tx.Nodes(ctx, assetsOf(lodgers))
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, l := range lodgers {
		n, known := nodes[l.Asset]
		if known {
			w.run.Tally.Known++
		} else {
			w.run.Tally.Unknown++
		}
		o := orphaned(l, n)
		switch {
		case !known && w.run.Newest == "":
			return nil, problem.New(problem.EmptyGraph,
				"there is no asset in the graph, so that everything would be an orphan, as what %s holds of asset %q; look at TOMBSTONE_GRAPH_URI", storeOf(l), l.Asset)
		case o.ahead || !known && l.Generation > w.run.Newest:
			return nil, problem.New(problem.GraphBehind,
				"%s holds something of asset %q that is newer than all the graph knows: was a backup of the graph restored? Nothing was removed", storeOf(l), l.Asset)
		case o.orphan && w.old(l):
			orphans = append(orphans, orphan{l, o.why})
		}
	}
	return orphans, nil
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
	return !at.IsZero() && at.Before(w.run.Before)
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
func (w *sweep) find(_ context.Context, orphans []orphan) error {
	t := &w.run.Tally
	for _, o := range orphans {
		if place := storeOf(o.Lodger) + " " + o.Place; place != t.Last {
			t.Last = place
			t.Owners[o.Owner]++
			w.counted(Candidate{Asset: o.Asset, Part: o.Part, Place: placeOf(o.Lodger), Reason: o.why, Bytes: o.Bytes})
		} else {
			t.Bytes += o.Bytes
		}
	}
	return nil
}
