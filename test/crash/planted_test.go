package crash

import (
	"cmp"
	"slices"
	"testing"
)

// TestPlantedMistakesAreFound shows that the exploration can fail: known mistakes are planted, and break what they must.
// Those that R2 hides are seen without it only, which is why the exploration is done without it, too.
func TestPlantedMistakesAreFound(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			x := newExplorer(t)
			first, ok := x.find(m, options{scenario: m.scenario, plant: m.plant, noR2: m.r2Hides}, 1)
			if !ok {
				t.Fatalf("no run breaks %s", m.breaks)
			}
			t.Logf("found by %v", first.faults)
			if !m.r2Hides {
				return
			}
			if f, ok := x.find(m, options{scenario: m.scenario, plant: m.plant}, share(5, 50)); ok {
				t.Errorf("with R2 it is seen, too: %v %v", f.faults, f.violations)
			}
		})
	}
}

// find looks for a run that breaks what the mistake breaks, but for those that may break it by design: the one without a
// fault, then every n-th with one, those with the fault that shows it soonest first.
func (x *explorer) find(m mistake, o options, n int) (first found, ok bool) {
	base := run(x.T, x.spare, o)
	if slices.Contains(base.broken(), m.breaks) {
		return base, true
	}
	all := every(n, strewn(further(base)))
	rank := func(o options) int {
		if o.faults[0].kind == m.by {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b options) int { return cmp.Compare(rank(a), rank(b)) })
	const some = 16 // runs until the next look whether that is enough
	for runs := range slices.Chunk(all, some) {
		x.all(runs, func(f found) {
			if !ok && slices.Contains(f.broken(), m.breaks) && !slices.Contains(f.mayBreak(), m.breaks) {
				first, ok = f, true
			}
		})
		if ok {
			return first, true
		}
	}
	return found{}, false
}
