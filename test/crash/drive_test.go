package crash

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tombstone-project/tombstone/internal/fault"
)

// found is what a run found.
type found struct {
	options
	calls      []fault.Call // up to the end of the scenario
	used       []means
	violations []string
	lines      string // of the log, of a run on embedded stores
}

// run carries out the scenario to its end, and then whatever may come late; it checks as it goes.
func run(t *testing.T, s *store, o options) (out found) {
	t.Helper()
	s.empty(t)
	synctest.Test(t, func(t *testing.T) { out = newWorld(t, s, inMemory(), o).explore() })
	return out
}

func (w *world) explore() found {
	w.scenario.prepare(w)
	w.schedule.follow(w.plan)
	for _, role := range w.scenario.roles {
		w.start(role)
	}
	w.drive(time.Minute, func() bool { return true })
	w.play()
	w.schedule.follow(nil)
	for _, m := range w.usual {
		delete(w.used, m)
	}
	out := found{options: w.options, calls: w.plan.Calls(), used: slices.Sorted(maps.Keys(w.used))}
	if len(w.violations) == 0 {
		w.aftermath()
	}
	if w.free {
		w.stop() // what runs could come between what is compared
	}
	if len(w.violations) == 0 {
		w.check()
	}
	w.end()
	out.violations = w.violations
	return out
}

// play lets the client act until it has, and the system has come to rest.
func (w *world) play() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.scenario.play(&client{w, ctx})
		w.schedule.knock()
	}()
	limit := w.limit
	if w.noR2 {
		limit = w.limitNoR2
	}
	if !w.drive(limit, func() bool { return closed(done) && w.settled() }) {
		w.violate("G1", "no end after %v: %s", limit, w.whatWaits())
	}
	cancel() // if it has not ended, it gives up
	<-done
}

// aftermath is what comes late: frozen processes wake, the broker delivers everything once more.
func (w *world) aftermath() {
	for _, p := range w.all() {
		p.Wake()
	}
	w.comeToRest("what was frozen")
	w.replay()
	w.comeToRest("all messages came again")
}

// comeToRest lets whatever happens now happen.
func (w *world) comeToRest(after string) {
	w.drive(w.breath, func() bool { return false })
	if !w.drive(w.limit, w.settled) {
		w.violate("G1", "no rest after %s: %s", after, w.whatWaits())
	}
}

// replay delivers all work once more that was ever put on the bus.
func (w *world) replay() {
	w.mu.Lock()
	work := maps.Clone(w.work)
	w.mu.Unlock()
	for _, s := range slices.Sorted(maps.Keys(work)) {
		w.again(work[s])
	}
}

// drive gives one call after another its turn, and starts anew what crashed, until there is nothing to do and the end is
// there. It is false when the limit was over before.
func (w *world) drive(limit time.Duration, end func() bool) bool {
	if w.free {
		return w.wait(limit, end)
	}
	over := time.After(limit)
	for {
		synctest.Wait()
		if w.revive() {
			continue
		}
		if call, ok := w.schedule.admit(w.runs); ok {
			synctest.Wait()
			w.observe(call)
			continue
		}
		if end() {
			return true
		}
		tick := time.NewTimer(time.Minute)
		select {
		case <-w.schedule.arrived:
		case <-tick.C:
		case <-over:
			return false
		}
		tick.Stop()
	}
}

// revive replaces what crashed, and gives what is frozen a replica. It tells whether there was anything to do.
func (w *world) revive() (done bool) {
	for _, p := range w.all() {
		crashed := closed(p.Ended())
		if p.replaced || !crashed && !p.Frozen() {
			continue
		}
		p.replaced, done = true, true
		if crashed {
			w.note(restart)
			p.stop()
		} else {
			w.note(replica)
		}
		w.start(p.role)
	}
	return w.schedule.release(w.ended) || done
}

// end stops everything and waits for it.
func (w *world) end() {
	stopped := make(chan struct{})
	for _, p := range w.all() {
		p.Crash()
		p.stop()
	}
	go func() {
		defer close(stopped)
		for _, p := range w.all() {
			p.parts.Wait()
		}
	}()
	for !closed(stopped) {
		w.schedule.release(w.ended)
		select {
		case <-w.schedule.arrived:
		case <-stopped:
		}
	}
}
