package asset

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// soonFor is when a command comes again whose obstacle may go at any moment: a pause, for the graph sends nothing while it
// is paused, so that it comes back with the resuming; or an endpoint whose name is not known, as while a store restarts.
const soonFor = time.Minute

// outcome turns what went wrong into what the worker acts on: an obstacle is parked, anything else comes again soon, and
// the graph hears of it the first time.
func (r *erasure) outcome(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	blocked := AsBlocked(err)
	if blocked == nil {
		if r.attempt == 1 && ctx.Err() == nil {
			r.tell(ctx, r.progressOf(partOf(err), err))
		}
		return err
	}
	parked := &saga.Parked{Part: partOf(err), Reason: string(blocked.Reason), Err: blocked}
	if !blocked.Until.IsZero() {
		parked.Until = &blocked.Until
	}
	if blocked.Reason == ReasonPaused || blocked.Reason == ReasonEndpointWrong {
		next := r.now().Add(soonFor).UTC()
		parked.NextTry = &next
	}
	return parked
}

// HandleMessage is the handler of the worker of the commands stream. A message that is no command is events.ErrUnreadable.
func (e *Eraser) HandleMessage(ctx context.Context, m saga.Message, attempt int) error {
	envelope, command, err := events.DecodeCommand(m.Data)
	if err != nil {
		return err
	}
	return e.Handle(ctx, envelope, command, attempt)
}

// Park reports what a worker puts aside, so that the graph flags the command again at the next try. It returns once the bus
// has the report; then the command may be acknowledged.
func (e *Eraser) Park(ctx context.Context, m saga.Message, o saga.Outcome) error {
	envelope, command, err := events.DecodeCommand(m.Data)
	if err != nil {
		return err
	}
	run := &erasure{Eraser: e, envelope: envelope, command: command, attempt: o.Attempt}
	progress := run.progressOf(o.Part, o.Err)
	progress.Status, progress.Reason, progress.Until, progress.NextTry = events.ProgressRetry, o.Reason, o.Until, &o.NextTry
	if o.Blocked && o.Reason != string(ReasonPaused) {
		progress.Status = events.ProgressBlocked
	}
	return run.send(ctx, events.TypePartProgress, newID(), progress)
}
