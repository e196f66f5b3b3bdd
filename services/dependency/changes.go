package dependency

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// changesPage is how many entries one look for changes covers; when there are more, viewers are told so.
	changesPage = 1000
	// changesKept is how many changes wait for a viewer that is slow; it is told that it has missed some.
	changesKept = 1000
)

// viewers are those who follow all deletions in this process: one look into the graph serves them all.
type viewers struct {
	mu   sync.Mutex
	on   map[*viewer]bool
	came chan struct{} // holds something once the first has come
}

// viewer is one of them.
type viewer struct {
	by    Caller
	woken chan struct{}
	mu    sync.Mutex
	news  []Change
}

func newViewers() *viewers { return &viewers{on: map[*viewer]bool{}, came: make(chan struct{}, 1)} }

func (vs *viewers) join(by Caller) (v *viewer, leave func()) {
	v = &viewer{by: by, woken: make(chan struct{}, 1)}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.on[v] = true
	signal(vs.came)
	return v, func() {
		vs.mu.Lock()
		defer vs.mu.Unlock()
		delete(vs.on, v)
	}
}

// present are the viewers of this moment.
func (vs *viewers) present() []*viewer {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	return slices.Collect(maps.Keys(vs.on))
}

// tell adds changes to what waits for the viewer.
func (v *viewer) tell(changes []Change) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.news = append(v.news, changes...); len(v.news) > changesKept {
		v.news = []Change{{Time: v.news[len(v.news)-1].Time, More: true}}
	}
	signal(v.woken)
}

func (v *viewer) take() []Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	news := v.news
	v.news = nil
	return news
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Changes gives what RunChanges finds.
func (s *Service) Changes(ctx context.Context, each func(Change) error) error {
	by, err := caller(ctx)
	if err != nil {
		return err
	}
	v, leave := s.viewers.join(by)
	defer leave()
	for {
		select {
		case <-v.woken:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, c := range v.take() {
			if err := each(c); err != nil {
				return err
			}
		}
	}
}

// RunChanges looks for new entries of the trail while somebody follows, until ctx ends. It costs one page along the ids of
// entries every half second, whatever the number of viewers and deletions.
func (s *Service) RunChanges(ctx context.Context) error {
	for {
		select {
		case <-s.viewers.came:
		case <-ctx.Done():
			return nil
		}
		tick := time.NewTicker(recheckWait)
		l := lookout{s: s, from: time.Now(), told: map[string]bool{}}
		for on := s.viewers.present(); len(on) > 0 && ctx.Err() == nil; on = s.viewers.present() {
			l.look(ctx, on)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		tick.Stop()
	}
}

// lookout remembers how far the trail was told. Entries get their ids before they become visible, and other replicas have
// other clocks: so each look goes back for a while, and leaves out what it has told.
type lookout struct {
	s    *Service
	from time.Time // all that became visible before was told; the machine's time, as ids are made of it
	told map[string]bool
}

func (l *lookout) look(ctx context.Context, on []*viewer) {
	began := time.Now()
	floor := idAt(l.from.Add(-lateCommit))
	var entries []Entry
	var deletions map[string]DeletionRecord
	err := l.s.graph.View(ctx, func(tx Tx) (err error) {
		if entries, err = tx.Entries(ctx, floor, changesPage); err != nil {
			return err
		}
		full := len(entries) == changesPage
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return l.told[e.ID] })
		deletions, err = tx.Deletions(ctx, deletionsOf(entries))
		if full {
			entries = append(entries, Entry{Time: l.s.now()}) // of no deletion: there are more
		}
		return err
	})
	if err != nil {
		return // the next look covers the time since the last
	}
	l.from = began
	l.remember(entries)
	for _, v := range on {
		if news := l.s.changes(v.by, entries, deletions); len(news) > 0 {
			v.tell(news)
		}
	}
}

// remember keeps what the next looks would find again.
func (l *lookout) remember(entries []Entry) {
	floor := idAt(l.from.Add(-lateCommit))
	maps.DeleteFunc(l.told, func(id string, _ bool) bool { return id < floor })
	for _, e := range entries {
		if e.ID != "" {
			l.told[e.ID] = true
		}
	}
}

func deletionsOf(entries []Entry) (ids []string) {
	for _, e := range entries {
		ids = append(ids, e.Deletion)
	}
	return distinct(ids)
}

// changes tells a caller of entries: one change a deletion, with its last entry, in the order of those.
func (s *Service) changes(by Caller, entries []Entry, deletions map[string]DeletionRecord) []Change {
	last := map[string]Change{}
	for _, e := range entries {
		d, ok := deletions[e.Deletion]
		switch {
		case e.Deletion == "" && e.ID == "":
			last[""] = Change{Time: e.Time, More: true}
		case ok && by.sees(d.Owner):
			last[d.ID] = Change{Time: e.Time, Type: e.Type, Deletion: d.ID, Root: d.Root, Status: d.Status, Stalled: s.stalled(d), Blocked: d.Blocked,
				Assets: AssetCount{Total: d.Total, Deleted: d.Done}}
		}
	}
	return slices.SortedFunc(maps.Values(last), func(a, b Change) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Deletion, b.Deletion))
	})
}
