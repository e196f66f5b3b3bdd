package crash

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/internal/fault"
)

// spot is one fault of a run: at which call, as an earlier run recorded it.
type spot struct {
	number int // of the call
	label  string
	kind   fault.Kind
}

func (s spot) String() string { return fmt.Sprintf("%s at call %d, %s", s.kind, s.number, s.label) }

// label is what a call is for, the same in each run.
func label(c fault.Call) string {
	about := ""
	switch c.Port {
	case "graph", "tx":
		about = strings.NewReplacer("dependency.", "", "(*", "", ")", "").Replace(c.About)
	case "publisher", "delivery":
		about = map[string]string{"command": "commands", "report": "reports", "event": "feed"}[strings.Split(c.About, ".")[1]]
	case "subscriber":
		about = c.About
	}
	return strings.TrimSpace(c.Name() + " " + about)
}

// with is the run of the recorded one with one more fault, at its call with this index.
func (f found) with(index int, kind fault.Kind) options {
	o := f.options
	o.faults = append(slices.Clone(o.faults), spot{index + 1, label(f.calls[index]), kind})
	return o
}

// begin is the index of the first call after the last fault.
func (f found) begin() int {
	if n := len(f.faults); n > 0 {
		return f.faults[n-1].number
	}
	return 0
}

// further are the runs with one more fault than the one that was recorded, at any later call.
func further(recorded found) (runs []options) {
	for i := recorded.begin(); i < len(recorded.calls); i++ {
		for _, kind := range recorded.calls[i].Kinds() {
			runs = append(runs, recorded.with(i, kind))
		}
	}
	return runs
}

// distinct is further without what makes no difference: faults inside a transaction, which are those of the transaction;
// and as long as nothing has an effect, it is the same at which of its calls a process crashes, and a look that is repeated
// sees the same.
func distinct(recorded found) (runs []options) {
	crashed, looked := map[string]bool{}, map[string]bool{}
	for i := recorded.begin(); i < len(recorded.calls); i++ {
		c := recorded.calls[i]
		if c.Port == "tx" {
			continue
		}
		look := c.Process + " " + label(c)
		for _, kind := range c.Kinds() {
			if kind == fault.CrashBefore && crashed[c.Process] || kind != fault.CrashBefore && looked[look] {
				continue
			}
			runs = append(runs, recorded.with(i, kind))
		}
		if !c.Reads() {
			clear(crashed)
			clear(looked)
		}
		crashed[c.Process], looked[look] = true, c.Reads()
	}
	return runs
}

// missed tells which faults of a run met another call than the one that was meant: then runs are not the same any more.
func (f found) missed() (out []string) {
	for _, s := range f.faults {
		switch {
		case s.number > len(f.calls):
			out = append(out, fmt.Sprintf("%s: there are only %d calls", s, len(f.calls)))
		case label(f.calls[s.number-1]) != s.label:
			out = append(out, fmt.Sprintf("%s: it was %s", s, label(f.calls[s.number-1])))
		}
	}
	return out
}

// explorer carries out runs, several at a time.
type explorer struct {
	*testing.T
	stores []*store // one for each run at a time
	again  sync.Mutex
	spare  *store // for a run that is looked at again
}

func newExplorer(t *testing.T) *explorer {
	x := &explorer{T: t, spare: openStore(t)}
	for range runtime.GOMAXPROCS(0) {
		x.stores = append(x.stores, openStore(t))
	}
	return x
}

// record is the run of a scenario before any fault. It must be without fault itself.
func (x *explorer) record(o options) found {
	f := run(x.T, x.spare, o)
	if len(f.violations) > 0 {
		x.Fatalf("%s without any fault: %v", o.scenario, f.violations)
	}
	f.usual = f.used
	return f
}

// all carries out the runs and shows each to see, in their order.
func (x *explorer) all(runs []options, see func(found)) {
	results := make([]chan found, len(runs))
	for i := range results {
		results[i] = make(chan found, 1)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for _, s := range x.stores {
		workers.Go(func() {
			for i := range next {
				results[i] <- run(x.T, s, runs[i])
			}
		})
	}
	go func() {
		defer close(next)
		for i := range runs {
			next <- i
		}
	}()
	for _, r := range results {
		see(<-r)
	}
	workers.Wait()
}

// pairs are the runs with two faults.
func (x *explorer) pairs(o options) (runs []options) {
	x.all(every(share(1, 32), distinct(x.record(o))), func(f found) { runs = append(runs, distinct(f)...) })
	return runs
}

// strewn gives the runs in an order in which neighbours are far apart.
func strewn(runs []options) (mixed []options) {
	const stride = 13
	for i := range stride {
		mixed = append(mixed, every(stride, runs[min(i, len(runs)):])...)
	}
	return mixed
}

// every gives each n-th run.
func every(n int, runs []options) (some []options) {
	for i := 0; i < len(runs); i += n {
		some = append(some, runs[i])
	}
	return some
}
