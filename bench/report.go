package main

import (
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
	// Ratio is deletions/s of the product to those of the floor in the same run, over the runs.
	Ratio spread `json:"ratio"`
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
	slices.Sort(all)
	return spread{all[0], all[(len(all)-1)/2], all[len(all)-1]}
}

func (s spread) text(format string) string {
	return fmt.Sprintf(strings.Join([]string{format, format, format}, " / "), s.Min, s.Median, s.Max)
}

func (r *report) ratio() spread {
	return r.over(func(m run) float64 { return m.Ours.PerSecond / m.Floor.PerSecond })
}

// table is for people: min / median / max over the runs.
func (r *report) table() string {
	var b strings.Builder
	o := r.Options
	fmt.Fprintf(&b, "%d assets (%s, cascade %t), %d clients, %d runs on %s stores, %d CPUs; min / median / max\n\n",
		o.Assets, o.Layout, o.Cascade, o.Clients, o.Runs, o.Stores, r.CPUs)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "way\tdeletions/s\tof floor\taccept p50 ms\taccept p99 ms\tCPU ms a deletion\tof floor")
	bare, ours := func(m run) result { return m.Floor }, func(m run) result { return m.Ours }
	fmt.Fprintf(w, "bare floor\t%s\t1\t\t\t%s\t1\n", r.over(rate(bare)).text("%.0f"), r.over(r.cpu(bare)).text("%.2f"))
	fmt.Fprintf(w, "tombstone\t%s\t%s\t%s\t%s\t%s\t%s\n", r.over(rate(ours)).text("%.0f"), r.ratio().text("%.3f"),
		r.over(func(m run) float64 { return m.Ours.AcceptP50 }).text("%.1f"), r.over(func(m run) float64 { return m.Ours.AcceptP99 }).text("%.1f"),
		r.over(r.cpu(ours)).text("%.2f"), r.over(func(m run) float64 { return r.cpu(ours)(m) / r.cpu(bare)(m) }).text("%.1f"))
	_ = w.Flush() // into memory
	fmt.Fprintln(&b)
	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "way\tprocess\tCPU s\tpeak RSS MB")
	r.processes(w, "bare floor", bare)
	r.processes(w, "tombstone", ours)
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

// cpu is the CPU time of all processes, in milliseconds a deletion.
func (r *report) cpu(of func(run) result) func(run) float64 {
	return func(m run) float64 {
		sum := 0.0
		for _, u := range of(m).Processes {
			sum += u.CPU
		}
		return sum * 1000 / float64(r.Options.Assets)
	}
}

// write puts everything into a file, in JSON; without a path it does nothing.
func (r *report) write(path string) error {
	if path == "" {
		return nil
	}
	r.Ratio = r.ratio()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// check fails when the product is slower, against the floor, than the bound.
func (r *report) check(bound float64) error {
	if ratio := r.ratio().Median; ratio < bound {
		return fmt.Errorf("the ratio to the bare floor is %.3f, below the bound of %.3f", ratio, bound)
	}
	return nil
}
