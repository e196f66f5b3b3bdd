package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// idleShare is which part of the assets one client alone asks for.
const idleShare = 8

// pace is how fast something was accepted.
type pace struct {
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// acceptRun is one repetition: one client, then many, each time first with one bare transaction a request.
type acceptRun struct {
	IdleBare pace `json:"idle_bare"`
	Idle     pace `json:"idle"`
	BusyBare pace `json:"busy_bare"`
	Busy     pace `json:"busy"`
}

// acceptWays are the rows of the table.
var acceptWays = []struct {
	name string
	of   func(acceptRun) pace
}{
	{"one client, bare transactions", func(r acceptRun) pace { return r.IdleBare }},
	{"one client, tombstone", func(r acceptRun) pace { return r.Idle }},
	{"all clients, bare transactions", func(r acceptRun) pace { return r.BusyBare }},
	{"all clients, tombstone", func(r acceptRun) pace { return r.Busy }},
}

// acceptance is what both ways need.
type acceptance struct {
	o     settings
	p     *product
	ours  *scene
	floor *floor
	made  []records // by bare transactions
	asked []asset   // of the product
}

// benchAccept measures from DELETE to its answer, when the deletion is durable in the graph, next to bare transactions that
// write the same records into the same graph by the same driver. Physical deletion is paused meanwhile.
func benchAccept(ctx context.Context, o settings) error {
	var runs []acceptRun
	err := onStage(ctx, o, 0, o.Layout, "ft", func(g stage) (err error) {
		a := &acceptance{o: o, ours: g.scenes[1]}
		if a.floor, err = openFloor(ctx, g.stores, g.scenes[0]); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.floor.graph.Close(ctx)) }()
		if a.p, err = startProduct(ctx, g.stores, a.ours, g.dir, o.Clients); a.p != nil {
			defer func() { err = errors.Join(err, a.p.stop()) }()
		}
		if err != nil {
			return err
		}
		runs, err = a.measure(ctx)
		return err
	})
	if err != nil {
		return err
	}
	printAccept(o, runs)
	return writeJSON(o.JSON, runs)
}

func (a *acceptance) measure(ctx context.Context) (runs []acceptRun, err error) {
	if err := a.p.Pause(ctx, "bench: acceptance alone"); err != nil {
		return nil, err
	}
	if _, err := a.both(ctx, "warm", a.o.Warm, a.o.Clients); err != nil {
		return nil, err
	}
	for number := range a.o.Runs {
		fmt.Fprintf(os.Stderr, "run %d of %d\n", number+1, a.o.Runs)
		idle, err := a.both(ctx, fmt.Sprintf("idle-%d", number), max(1, a.o.Assets/idleShare), 1)
		if err != nil {
			return nil, err
		}
		busy, err := a.both(ctx, fmt.Sprintf("busy-%d", number), a.o.Assets, a.o.Clients)
		if err != nil {
			return nil, err
		}
		runs = append(runs, acceptRun{IdleBare: idle[0], Idle: idle[1], BusyBare: busy[0], Busy: busy[1]})
	}
	for chunk := range slices.Chunk(a.made, bareBatch) { // so that no flag stays for others
		if err := a.floor.complete(ctx, merge(chunk)); err != nil {
			return nil, err
		}
	}
	return runs, a.p.count(ctx, dependency.Deleting, a.asked)
}

// both accepts n deletions in either way.
func (a *acceptance) both(ctx context.Context, what string, n, clients int) (paces [2]pace, err error) {
	if n == 0 {
		return paces, nil
	}
	bare, err := a.floor.nodes(ctx, a.floor.scene.names(what, n))
	if err != nil {
		return paces, err
	}
	made := make([]records, n)
	for i := range made {
		made[i] = a.floor.scene.records(bare[i : i+1])
	}
	a.made = append(a.made, made...)
	asked, err := a.p.create(ctx, a.ours, a.ours.names(what, n), false)
	if err != nil {
		return paces, err
	}
	a.asked = append(a.asked, asked...)
	paces[0], err = paceOf(n, func(told *accepted) error {
		return fromClients(ctx, made, clients, func(ctx context.Context, _ int, r records) error {
			began := time.Now()
			err := a.floor.accept(ctx, r)
			told.note(r.deletions[0].ID, time.Since(began))
			return err
		})
	})
	if err != nil {
		return paces, fmt.Errorf("bare transactions: %w", err)
	}
	paces[1], err = paceOf(n, func(told *accepted) error { return a.p.request(ctx, ids(asked), clients, told) })
	return paces, err
}

func paceOf(n int, do func(*accepted) error) (pace, error) {
	told, began := &accepted{}, time.Now()
	if err := do(told); err != nil {
		return pace{}, err
	}
	return pace{PerSecond: float64(n) / time.Since(began).Seconds(), P50: percentile(told.times, 50), P99: percentile(told.times, 99)}, nil
}

func printAccept(o settings, runs []acceptRun) {
	over := func(format string, value func(acceptRun) float64) string {
		var all []float64
		for _, r := range runs {
			all = append(all, value(r))
		}
		return spreadOf(all).text(format)
	}
	fmt.Printf("%d deletions (one client: %d), %d clients, %d runs on %s stores; min / median / max\n\n", o.Assets, max(1, o.Assets/idleShare), o.Clients, o.Runs, o.Stores)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "way\taccepted/s\tp50 ms\tp99 ms")
	for _, way := range acceptWays {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", way.name, over("%.0f", func(r acceptRun) float64 { return way.of(r).PerSecond }),
			over("%.1f", func(r acceptRun) float64 { return way.of(r).P50 }), over("%.1f", func(r acceptRun) float64 { return way.of(r).P99 }))
	}
	_ = w.Flush() // to the terminal
	fmt.Println("\none client, median to that of a bare transaction (at most 1.5):", over("%.2f", func(r acceptRun) float64 { return r.Idle.P50 / r.IdleBare.P50 }))
	fmt.Println("all clients, accepted/s to bare transactions (on Neo4j at least 4):", over("%.2f", func(r acceptRun) float64 { return r.Busy.PerSecond / r.BusyBare.PerSecond }))
	fmt.Println("all clients, p99 to the median (at most 5):", over("%.2f", func(r acceptRun) float64 { return r.Busy.P99 / r.Busy.P50 }))
}
