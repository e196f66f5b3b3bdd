package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report is everything that was measured.
type report struct {
	Time    time.Time `json:"time"`
	Go      string    `json:"go"`
	CPUs    int       `json:"cpus"`
	Options settings  `json:"options"`
	Runs    []run     `json:"runs"`
	// Ratio is deletions/s of the product to those of the bare floor in the same run, over the runs; OfProved to those of the
	// proved floor.
	Ratio    spread `json:"ratio"`
	OfProved spread `json:"ratio_of_proved_floor"`
	// CPURatio is CPU time a deletion, of the services and all stores, to that of the bare floor and the stores. Memory is the
	// peak of both services together, in MB.
	CPURatio spread `json:"cpu_ratio"`
	Memory   spread `json:"services_peak_rss_mb"`
}

// conclude works out the ratios.
func (r *report) conclude() {
	bare, proved, ours := ways[0].of, ways[1].of, ways[2].of
	r.Ratio, r.OfProved = r.ratio(ours, bare), r.ratio(ours, proved)
	r.CPURatio = r.over(func(m run) float64 { return ours(m).work() / bare(m).work() })
	r.Memory = r.over(func(m run) float64 { return ours(m).memory() })
}

// spread is over the runs.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

func newReport(o settings) *report {
	return &report{Time: time.Now().UTC(), Go: runtime.Version(), CPUs: runtime.NumCPU(), Options: o}
}

// over gives the spread of a number; of an even count the lower of the two in the middle counts as the median.
func (r *report) over(value func(run) float64) spread {
	var all []float64
	for _, run := range r.Runs {
		all = append(all, value(run))
	}
	return spreadOf(all)
}

func spreadOf(all []float64) spread {
	slices.Sort(all)
	return spread{all[0], all[(len(all)-1)/2], all[len(all)-1]}
}

func (s spread) text(format string) string {
	return fmt.Sprintf(strings.Join([]string{format, format, format}, " / "), s.Min, s.Median, s.Max)
}

// ways are what was measured, in the order of the table.
var ways = []struct {
	name string
	of   func(run) result
}{
	{"bare floor", func(m run) result { return m.Floor }},
	{"proved floor", func(m run) result { return m.Proved }},
	{"tombstone", func(m run) result { return m.Ours }},
}

// ratio is how fast a way is, next to another of the same run.
func (r *report) ratio(of, to func(run) result) spread {
	return r.over(func(m run) float64 { return of(m).PerSecond / to(m).PerSecond })
}

// table is for people: min / median / max over the runs.
func (r *report) table() string {
	var b strings.Builder
	o := r.Options
	fmt.Fprintf(&b, "%d assets (%s, cascade %t), %d clients, %d runs on %s stores, %d CPUs; min / median / max\n\n",
		o.Assets, o.Layout, o.Cascade, o.Clients, o.Runs, o.Stores, r.CPUs)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "way\tdeletions/s\tof bare floor\tof proved floor\tCPU ms a deletion\tof bare floor\tpeak RSS MB\taccept p50 ms\taccept p99 ms")
	bare, proved := ways[0].of, ways[1].of
	each := 1000 / float64(o.Assets)
	for _, way := range ways {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", way.name, r.over(rate(way.of)).text("%.0f"),
			r.ratio(way.of, bare).text("%.2f"), r.ratio(way.of, proved).text("%.2f"),
			r.over(func(m run) float64 { return way.of(m).work() * each }).text("%.2f"),
			r.over(func(m run) float64 { return way.of(m).work() / bare(m).work() }).text("%.1f"), r.over(func(m run) float64 { return way.of(m).memory() }).text("%.0f"),
			r.over(func(m run) float64 { return way.of(m).AcceptP50 }).text("%.1f"), r.over(func(m run) float64 { return way.of(m).AcceptP99 }).text("%.1f"))
	}
	_ = w.Flush() // into memory
	fmt.Fprintln(&b, "\nto reach: 0.60 of the bare floor, 0.80 of the proved floor, 2.5 times the CPU of the bare floor, 200 MB; CPU and memory are those of what")
	fmt.Fprintln(&b, "does the work (floor or services), CPU that of all stores, too; the clients of the product only ask")
	fmt.Fprintln(&b)
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "way\tprocess\tCPU s\tpeak RSS MB")
	for _, way := range ways {
		r.processes(w, way.name, way.of)
	}
	_ = w.Flush() // into memory
	return b.String()
}

func (r *report) processes(w *tabwriter.Writer, way string, of func(run) result) {
	for _, name := range slices.Sorted(maps.Keys(of(r.Runs[0]).Processes)) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", way, name,
			r.over(func(m run) float64 { return of(m).Processes[name].CPU }).text("%.2f"),
			r.over(func(m run) float64 { return of(m).Processes[name].Memory }).text("%.0f"))
	}
}

func rate(of func(run) result) func(run) float64 {
	return func(m run) float64 { return of(m).PerSecond }
}

// work is the CPU time, in seconds, of what does the work and of all stores: the floors are done by the clients' process, and
// for the product that only asks.
func (r result) work() (seconds float64) {
	_, product := r.Processes[roleServices]
	for name, used := range r.Processes {
		if name != clientsName || !product {
			seconds += used.CPU
		}
	}
	return seconds
}

// memory is the peak, in MB, of what does the work: of all services together.
func (r result) memory() (mb float64) {
	for name, used := range r.Processes {
		if strings.HasPrefix(name, roleServices) {
			mb += used.Memory
		}
	}
	return cmp.Or(mb, r.Processes[clientsName].Memory)
}

// writeJSON puts what was measured into a file; without a path it does nothing.
func writeJSON(path string, measured any) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(measured, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// check fails when the product is slower, against the floor, than the bound.
func (r *report) check(bound float64) error {
	if ratio := r.Ratio.Median; ratio < bound {
		return fmt.Errorf("the ratio to the bare floor is %.3f, below the bound of %.3f", ratio, bound)
	}
	return nil
}
