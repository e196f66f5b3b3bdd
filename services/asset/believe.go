package asset

import (
	"context"
	"errors"
	"time"
)

// There are stores that list nothing at a place for as long as a batch of deletions is open there, and afterwards what the
// batch has left. So an empty listing is no proof as long as a batch may be open: of a worker that had the command before
// us, or has it beside us; or of our own, when no answer came.

// errBatchOpen: nothing is listed, and something may be there. The command comes again later, and looks afresh.
var errBatchOpen = errors.New("nothing is listed, but a deletion of the same objects may still be under way")

// believe refuses, as the part's error, to take an empty look for absence while a batch may be open. Where nobody else was
// at the part and every deletion of ours was answered, as usual, it asks nobody.
func (r *erasure) believe(ctx context.Context, p *part) {
	if doubts := p.doubts(); len(doubts) > 0 {
		p.othersAt = p.listedAt
		// The ledger lets later deliveries wait, too. The versions in it were counted when they were found.
		r.write(ctx, p, Inventory{Hash: p.seen.hash(), At: p.listedAt, Versions: doubts})
	}
	if p.err == nil && !p.othersAt.IsZero() && p.listedAt.Before(p.othersAt.Add(r.batch)) {
		p.err = errBatchOpen
	}
}

// doubts are the versions of which nobody knows whether the last deleting took them: the store did not say so, and named no
// obstacle.
func (p *part) doubts() []Version {
	var out []Version
	for _, o := range p.before.objects {
		if err := p.refused[o.thing()]; err != nil && AsBlocked(err) == nil {
			o.GovernanceBypass = false // the policy's, not the version's
			out = append(out, o.Version)
		}
	}
	return out
}

// firstAnswer is when the first of the listings was answered, by the clock of its store; the time that our own clock told
// where a store does not say.
func firstAnswer(ours time.Time, listings []Listing) time.Time {
	var first time.Time
	for _, l := range listings {
		if first.IsZero() || l.At.Before(first) {
			first = l.At
		}
	}
	if first.IsZero() {
		return ours
	}
	return first
}
