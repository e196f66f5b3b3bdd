package crash

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/internal/fault"
)

// atOnce is how many runs go side by side: they wait most of the time.
const atOnce = 16

// someTime is when a run with a mistake planted is given up.
const someTime = 10 * time.Second

// TestEmbeddedStores gives calls of the scenarios the faults of docs/crash-matrix.md on the stores of `tombstone dev`: one run
// for each cell of its table, at a call drawn by the seed (TOMBSTONE_SEED for the same again); with TOMBSTONE_CRASH=full every
// call meets every fault. What breaks must be what the table says. R2 is off, so that it hides nothing, unless the broker
// loses a message.
func TestEmbeddedStores(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes a minute")
	}
	want := readMatrix(t) // before the servers come, with another working directory
	x := newLab(t)
	var runs []options
	for _, s := range scenarios {
		if s.name == manyObjects && !full {
			continue // it takes longer to fill the stores than to empty them
		}
		runs = append(runs, x.further(options{scenario: s, noR2: true})...)
	}
	if !full {
		runs = oneOfEach(runs, newSeed(t))
	}
	seen := map[string]bool{}
	met := 0
	x.all(runs, func(f found) {
		row := f.faults[0].label
		if want[row] == nil || want[row][f.faults[0].kind.String()] == "" {
			return // a call that comes in real time only, as a sign that work goes on
		}
		if seen[row] = true; !f.met() {
			return // this time the call came later than the end, or not at all
		}
		met++
		x.judge(f, want[row][f.faults[0].kind.String()])
	})
	t.Logf("%d runs, in %d of which the fault was met", len(runs), met)
	if met < len(runs)*3/4 {
		t.Errorf("only %d of %d faults were met", met, len(runs))
	}
	for row := range want {
		if !seen[row] && !strings.Contains(row, "Service.resend") && row != "ledger.Page" {
			t.Errorf("no run had a fault at %s", row)
		}
	}
}

// TestEmbeddedStoresShowPlantedMistakes shows that a run on embedded stores can fail.
func TestEmbeddedStoresShowPlantedMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes half a minute")
	}
	x := newLab(t)
	for _, m := range mistakes {
		if !full && !slices.Contains([]string{"a command is acknowledged before it is handled", "entries are marked as sent before they are published",
			"documents are deleted by their key alone"}, m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			x := &lab{t, x.graphs}
			var runs []options
			for _, o := range x.further(options{scenario: m.scenario, plant: m.plant, noR2: true}) {
				if o.faults[0].kind == m.by && !strings.HasPrefix(o.faults[0].label, "tx.") {
					runs = append(runs, o)
				}
			}
			if f, ok := x.until(runs, func(f found) bool { return slices.Contains(f.broken(), m.breaks) }); ok {
				t.Logf("found by %v: %.300s", f.faults, f.violations[0])
			} else {
				t.Errorf("none of %d runs breaks %s", len(runs), m.breaks)
			}
		})
	}
}

// lab carries out runs on embedded stores.
type lab struct {
	*testing.T
	graphs chan *store
}

// newLab keeps the servers running for the whole test.
func newLab(t *testing.T) *lab {
	x := &lab{T: t, graphs: make(chan *store, atOnce)}
	for range atOnce {
		x.graphs <- openStore(t)
	}
	inRAM(t)
	devtest.NATS(t)
	devtest.Documents(t)
	devtest.Blobs(t)
	return x
}

// inRAM keeps the servers' files in memory where the system offers that and has room: to wait for the disk is most of the
// work else, and what is explored is not whether files survive.
func inRAM(t *testing.T) {
	t.Helper()
	const folder, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > room {
		t.Setenv("TMPDIR", folder)
	}
}

// run is one run, on a graph and names of its own.
func (x *lab) run(o options) (f found) {
	g := <-x.graphs
	defer func() { x.graphs <- g }()
	x.Run(fmt.Sprintf("%s, %v", o.scenario.name, o.faults), func(t *testing.T) {
		var lines bytes.Buffer
		g.empty(t)
		o.log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
		on := embedded(t)
		if o.plant.name != "" {
			on.limit, on.limitNoR2 = someTime, someTime
		}
		f = newWorld(t, g, on, o).explore()
		f.lines = lines.String()
	})
	return f
}

// further are the runs with one fault at any call that the scenario makes without.
func (x *lab) further(o options) (runs []options) {
	base := x.run(o)
	if len(base.violations) > 0 && o.plant.name == "" {
		x.Fatalf("%s without any fault: %v", o.scenario, base.violations)
	}
	nth := map[string]int{}
	for _, c := range base.calls {
		of := label(c)
		nth[of]++
		for _, kind := range c.Kinds() {
			next := o
			next.faults = []spot{{nth[of], of, kind}}
			next.noR2 = kind != fault.Lost
			runs = append(runs, next)
		}
	}
	return runs
}

// all carries out the runs, many at a time, and shows each to see.
func (x *lab) all(runs []options, see func(found)) {
	x.until(runs, func(f found) bool { see(f); return false })
}

// until is all, up to the first run that is enough.
func (x *lab) until(runs []options, enough func(found) bool) (first found, ok bool) {
	var workers sync.WaitGroup
	var one sync.Mutex
	rest := runs
	take := func() (o options, more bool) {
		one.Lock()
		defer one.Unlock()
		if ok || len(rest) == 0 {
			return o, false
		}
		o, rest = rest[0], rest[1:]
		return o, true
	}
	for range atOnce {
		workers.Go(func() {
			for o, more := take(); more; o, more = take() {
				f := x.run(o)
				one.Lock()
				if enough(f) && !ok {
					first, ok = f, true
				}
				one.Unlock()
			}
		})
	}
	workers.Wait()
	return first, ok
}

// judge holds a run to its cell of the table.
func (x *lab) judge(f found, cell string) {
	x.Helper()
	var breaks []string
	for _, found := range broken.FindAllStringSubmatch(cell, -1) {
		breaks = append(breaks, found[1])
	}
	if got := f.broken(); !slices.Equal(got, breaks) {
		x.Errorf("%s: breaks %v, docs/crash-matrix.md says %v\n%s\n%s", f, got, breaks, strings.Join(f.violations, "\n"), f.lines)
	}
}

// met tells whether the fault struck: in real time a call may not come this time, or come with fewer items.
func (f found) met() bool {
	nth := 0
	for _, c := range f.calls {
		if label(c) != f.faults[0].label {
			continue
		}
		if nth++; nth == f.faults[0].number {
			return slices.Contains(c.Kinds(), f.faults[0].kind)
		}
	}
	return false
}

// oneOfEach draws one run for each call and kind of fault.
func oneOfEach(runs []options, seed uint64) (some []options) {
	random := rand.New(rand.NewPCG(seed, 0))
	cells := map[string][]options{}
	for _, o := range runs {
		cell := o.faults[0].label + " " + o.faults[0].kind.String()
		cells[cell] = append(cells[cell], o)
	}
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		some = append(some, cells[cell][random.IntN(len(cells[cell]))])
	}
	return some
}

// newSeed is that of TOMBSTONE_SEED, or a new one, and is told.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("TOMBSTONE_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("TOMBSTONE_SEED: %v", err)
		}
	}
	t.Logf("TOMBSTONE_SEED=%d", seed)
	return seed
}

// broken are the guarantees that a cell names.
var broken = regexp.MustCompile(`\*\*(G\d) breaks`)

// readMatrix reads the tables of runs with one fault, by call and kind.
func readMatrix(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## One fault\n")
	section, _, _ = strings.Cut(section, "\n## ")
	cells := map[string]map[string]string{}
	var head []string
	for line := range strings.Lines(section) {
		row := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case !strings.HasPrefix(line, "| "):
		case row[0] == "call":
			head = row[1:]
		case row[0] != "---":
			cells[row[0]] = map[string]string{}
			for i, cell := range row[1:] {
				cells[row[0]][head[i]] = strings.TrimSpace(cell)
			}
		}
	}
	return cells
}
