package asset

import "sync"

// maxRuns bounds what is remembered; then it begins anew.
const maxRuns = 10_000

// ownRuns remembers how far this process came with parts that it gave back unfinished. When the very next delivery of a
// command comes here again, and the ledger is as we left it, then nobody else was at the part.
type ownRuns struct {
	mu sync.Mutex
	of map[LedgerKey]ownRun
}

// ownRun is a delivery of a command, and the pages of the ledger when it ended.
type ownRun struct{ attempt, pages int }

func (o *ownRuns) keep(key LedgerKey, run ownRun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxRuns {
		o.of = map[LedgerKey]ownRun{}
	}
	o.of[key] = run
}

// took tells whether this was our last run of the part. It is told once.
func (o *ownRuns) took(key LedgerKey, run ownRun) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, known := o.of[key]
	delete(o.of, key)
	return known && last == run
}

// leave remembers the parts that are given back, as far as no batch of ours or of others can be open.
func (r *erasure) leave() {
	for _, p := range r.parts {
		if p.pages > 0 && p.evidence == nil && p.othersAt.IsZero() && AsBlocked(p.err) == nil && !p.unanswered() {
			r.runs.keep(r.ledgerKey(p), ownRun{r.attempt, p.pages})
		}
	}
}

// unanswered tells whether the last deleting left a version of which the store did not say what became of it.
func (p *part) unanswered() bool {
	for _, err := range p.refused {
		if AsBlocked(err) == nil {
			return true
		}
	}
	return false
}
