package saga

import (
	"log/slog"
	"sync"
	"time"
)

// repeatAfter is how often a fault that lasts is logged again.
const repeatAfter = time.Minute

// outage logs that something fails and that it works again, without a line for each try.
type outage struct {
	log  *slog.Logger
	what string

	mu       sync.Mutex
	failures int
	last     error // of the last try; nil when it worked
	since    time.Time
	logged   time.Time
}

// note takes the result of one try.
func (o *outage) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.last = err
	switch {
	case err == nil && o.failures > 0:
		o.log.Info(o.what+" works again", "failures", o.failures, "after", now.Sub(o.since).Round(time.Second))
		o.failures = 0
	case err == nil:
	case o.failures == 0:
		o.failures, o.since, o.logged = 1, now, now
		o.log.Warn(o.what+" fails", "error", err)
	default:
		o.failures++
		if now.Sub(o.logged) >= repeatAfter {
			o.logged = now
			o.log.Warn(o.what+" still fails", "error", err, "failures", o.failures, "since", o.since.UTC())
		}
	}
}

// now gives the fault of the last try; nil when it worked.
func (o *outage) now() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}
