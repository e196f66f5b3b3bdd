package saga

import (
	"errors"
	"time"

	"github.com/tombstone-project/tombstone/events"
)

// Kind is what becomes of a delivery. The set is closed.
type Kind int

// The kinds.
const (
	// Done: the work is finished; acknowledge.
	Done Kind = iota
	// Later: give the message back, it comes again after Outcome.Delay.
	Later
	// Park: it cannot go on soon. Report that with Outcome.NextTry, then acknowledge; the graph flags it again at that time.
	// Messages that wait long must not stay with the broker: they count against what it hands out at the same time.
	Park
	// Leave: a process of a newer version can read it. Give it back for that one, after Outcome.Delay.
	Leave
	// Never: it cannot be read, now or later. Copy it to the dead letters, then terminate.
	Never
)

// String is the kind as the log tells it.
func (k Kind) String() string {
	return [...]string{"done", "later", "park", "leave", "never"}[k]
}

// newerTries is how often a message of a newer version is given back, most of a day with the default backoff. When nobody
// has taken it by then, there is no newer version any more, and the graph has had sent again what is not done.
const newerTries = 1500

// Parked is the error of a handler that cannot go on until somebody, or time, removes an obstacle: an object lock, a hold,
// a pause, a missing bucket.
type Parked struct {
	Part   string // empty: the whole asset
	Reason string // the obstacle's stable name
	// Until is when the obstacle ends by itself; nil when that is not known.
	Until *time.Time
	// NextTry is when to try again; nil leaves it to Decide.
	NextTry *time.Time
	// Err is the fault behind it, for people; may be nil.
	Err error
}

// Error tells the reason and the fault.
func (p *Parked) Error() string {
	if p.Err == nil {
		return "parked: " + p.Reason
	}
	return "parked: " + p.Reason + ": " + p.Err.Error()
}

// Unwrap gives the fault.
func (p *Parked) Unwrap() error { return p.Err }

// Outcome is what Decide made of a handler's result.
type Outcome struct {
	Kind    Kind
	Attempt int
	Err     error // the handler's; nil for Done
	// Delay belongs to Later and Leave.
	Delay time.Duration
	// The rest belongs to Park. Blocked: the handler named an obstacle (Parked); else it merely failed too often.
	Blocked bool
	Part    string
	Reason  string
	Until   *time.Time
	NextTry time.Time
}

// Decide turns a handler's result into what becomes of the delivery: the only place where that is decided. attempt counts
// the deliveries of this message from 1.
func Decide(err error, attempt int, b Backoff) Outcome {
	o := Outcome{Attempt: attempt, Err: err}
	var parked *Parked
	switch {
	case err == nil:
		o.Kind = Done
	case errors.Is(err, events.ErrNewer) && attempt < newerTries:
		o.Kind, o.Delay = Leave, b.Delay(attempt)
	case errors.Is(err, events.ErrUnreadable), errors.Is(err, events.ErrNewer):
		o.Kind = Never
	case errors.As(err, &parked):
		o.Blocked, o.Part, o.Reason, o.Until = true, parked.Part, parked.Reason, parked.Until
		o = o.park(b.NextTry(parked))
	case b.Exhausted(attempt):
		o = o.park(b.NextTry(nil))
	default:
		o.Kind, o.Delay = Later, b.Delay(attempt)
	}
	return o
}

// park makes it an outcome that is reported and tried again at a time.
func (o Outcome) park(next time.Time) Outcome {
	o.Kind, o.Delay, o.NextTry = Park, 0, next
	return o
}
