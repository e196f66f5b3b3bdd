package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
)

// MemberTooOld is the member of a problem.Unavailable that is true where an asset service is up, of a version that does not know
// the question yet.
const MemberTooOld = "too_old"

// Stores is what the dependency service asks of the asset service: what lies in the stores now. Looking changes nothing there,
// and nothing is decided by it alone: whoever asks decides again in the graph what it means.
//
// No answer, and a store that does not answer, is problem.Unavailable. A place that cannot be looked into until somebody
// removes an obstacle is told in the sight (Unseen), and does not keep the others.
type Stores interface {
	// Look looks afresh at all places of each target, former places included. It gives sights of the first targets, in
	// order, at least one of them: what is left is asked again. A sight may be a page, which Target.After continues; the
	// pages of a place are not one moment, and tell each thing that stays there once.
	Look(ctx context.Context, targets []events.Target) ([]events.Sight, error)
	// Survey tells what lies on a shelf, at places of the policy, page by page. An obstacle is an error, never an empty page.
	Survey(ctx context.Context, shelf events.Shelf) (events.Survey, error)
}
