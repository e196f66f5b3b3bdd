package crash

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/fault"
)

// full is for the soak: every pair, every scenario without R2, other orders of calls. Set TOMBSTONE_CRASH=full.
var full = os.Getenv("TOMBSTONE_CRASH") == "full"

// share is which part of the runs is carried out: every n-th.
func share(usual, short int) int {
	switch {
	case full:
		return 1
	case testing.Short():
		return short
	}
	return usual
}

// TestCrashMatrix gives every call of every scenario every fault, and writes what came of it into docs/crash-matrix.md.
func TestCrashMatrix(t *testing.T) {
	m, parts := newMatrix(), 0
	t.Run("every fault at every call", func(t *testing.T) {
		x := newExplorer(t)
		for _, s := range scenarios {
			base := x.record(options{scenario: s})
			runs := further(base)
			m.addScenario(base, runs)
			x.all(every(share(1, 64), runs), func(f found) {
				x.judge(f)
				m.single.add(f)
			})
		}
		parts++
	})
	t.Run("every fault at every call without R2", func(t *testing.T) {
		x := newExplorer(t)
		for i, s := range scenarios {
			usual := i == 0 || i == 3 // the others, in which R2 did not act either, are for the soak
			if !usual && !full {
				continue
			}
			runs := further(x.record(options{scenario: s, noR2: true}))
			x.all(every(share(1, 64), runs), func(f found) {
				x.judge(f)
				if usual {
					m.withoutR2.add(f)
				}
			})
		}
		parts++
	})
	t.Run("pairs of faults", func(t *testing.T) {
		x := newExplorer(t)
		for _, noR2 := range []bool{false, true} {
			pairs := x.pairs(options{scenario: oneAsset, noR2: noR2})
			x.all(every(share(47, 500), pairs), func(f found) {
				x.judge(f)
				m.pairs.add(f)
			})
		}
		parts++
	})
	if parts == 3 && !testing.Short() && !t.Failed() {
		m.compare(t)
	}
}

// TestOtherOrdersOfCalls explores with other orders among the calls that could come next.
func TestOtherOrdersOfCalls(t *testing.T) {
	x := newExplorer(t)
	seeds := uint64(8)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		for _, s := range scenarios {
			runs := further(x.record(options{scenario: s, seed: seed + 1}))
			x.all(every(share(128, 512), strewn(runs)), x.judge)
		}
	}
}

// judge holds a run to what it must do: every guarantee holds, and nothing but R1, repeats and restarts is needed for it,
// unless the broker lost what it had acknowledged.
func (x *explorer) judge(f found) {
	x.Helper()
	if missed := f.missed(); len(missed) > 0 {
		x.Errorf("%s: the run differs from the one recorded: %s", f, strings.Join(missed, "; "))
	}
	broken, may := f.broken(), f.mayBreak()
	unexpected := slices.ContainsFunc(broken, func(g string) bool { return !slices.Contains(may, g) })
	missing := f.scenario.name == oneAsset.name && len(f.faults) == 1 && !slices.Equal(broken, may)
	if unexpected || missing {
		x.Errorf("%s: broken %v, expected %v\n%s\n%s", f, broken, may, strings.Join(f.violations, "\n"), x.logOf(f))
	}
	if slices.Contains(f.used, r2) && !f.lost("publisher.Publish commands") && !f.lost("publisher.Publish reports") {
		x.Errorf("%s: only R2 helped\n%s", f, x.logOf(f))
	}
}

// mayBreak is what a run breaks by design. A message that the broker acknowledged and lost is replaced by R2 when it was
// work. When it was an event nobody notices: the feed lacks what the trail in the graph has.
func (f found) mayBreak() (guarantees []string) {
	if f.noR2 && (f.lost("publisher.Publish commands") || f.lost("publisher.Publish reports")) {
		guarantees = append(guarantees, "G1")
	}
	if f.lost("publisher.Publish feed") {
		guarantees = append(guarantees, "G9")
	}
	return guarantees
}

func (f found) lost(label string) bool {
	return slices.ContainsFunc(f.faults, func(s spot) bool { return s.kind == fault.Lost && s.label == label })
}

// broken are the guarantees that the run broke.
func (f found) broken() (guarantees []string) {
	for _, v := range f.violations {
		g, _, _ := strings.Cut(v, ":")
		guarantees = append(guarantees, g)
	}
	slices.Sort(guarantees)
	return slices.Compact(guarantees)
}

func (f found) String() string {
	return fmt.Sprintf("%s, R2 %t, %v", f.scenario.name, !f.noR2, f.faults)
}

// logOf is the log of the same run once more.
func (x *explorer) logOf(f found) string {
	var log bytes.Buffer
	f.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	x.again.Lock()
	defer x.again.Unlock()
	run(x.T, x.spare, f.options)
	return log.String()
}
