package main

import (
	"fmt"
	"sync"
	"time"
)

// progressEvery is how often people see that work goes on; what is faster shows nothing.
const progressEvery = 300 * time.Millisecond

// busy tells people at a terminal, on standard error, what goes on and for how long. done ends that and clears the line; it
// may be called again.
func (p *program) busy(doing func() string) (done func()) {
	if !p.watched {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for began := time.Now(); ; {
			select {
			case <-stop:
				_, _ = fmt.Fprint(p.err, "\r\x1b[K")
				return
			case <-tick.C:
				_, _ = fmt.Fprintf(p.err, "\r\x1b[K%s, %s", safe(doing()), time.Since(began).Round(time.Second))
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-ended
	})
}

// doing is a text that stays.
func doing(text string) func() string { return func() string { return text } }
