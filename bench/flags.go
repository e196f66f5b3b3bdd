package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// setSize is how many deletions are asked for with one request: the most that the API takes.
const setSize = 1000

// left is how many flags there still were, so long after the start.
type left struct {
	Seconds float64 `json:"seconds"`
	Flags   int     `json:"flags"`
}

// flagsResult is how a start with many flags went.
type flagsResult struct {
	First   float64 `json:"first_tenth_per_second"`
	Last    float64 `json:"last_tenth_per_second"`
	Drained float64 `json:"drained_seconds"` // until no flag was left
	Ended   float64 `json:"ended_seconds"`   // until every deletion had ended
	Memory  float64 `json:"services_peak_rss_mb"`
	Course  []left  `json:"course"`
}

// benchFlags starts the services on a graph with many accepted deletions, whose flags are all unsent, and measures how fast
// the flags go in the beginning and in the end. The assets have nothing in the other stores, so that this is what counts.
func benchFlags(ctx context.Context, o settings) error {
	var r flagsResult
	err := onStage(ctx, o, 0, o.Layout, "t", func(g stage) (err error) {
		if err := leaveFlags(ctx, o, g); err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		graph, err := g.openGraph(ctx, g.scenes[0])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, graph.Close(ctx)) }()
		p, err := startProduct(ctx, g.stores, g.scenes[0], g.dir, o.Clients)
		if p != nil {
			defer func() { err = errors.Join(err, p.stop()) }()
		}
		if err != nil {
			return err
		}
		r, err = measureFlags(ctx, p, graph)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d flags on %s stores\n\n", o.Flags, o.Stores)
	fmt.Printf("flags/s: first tenth %.0f, last tenth %.0f, ratio %.2f (the same)\n", r.First, r.Last, r.Last/r.First)
	fmt.Printf("no flag left after %.1f s, every deletion ended after %.1f s, services peak RSS %.0f MB (at most 200)\n", r.Drained, r.Ended, r.Memory)
	return writeJSON(o.JSON, r)
}

// leaveFlags accepts the deletions while physical deletion is paused, and ends the services: the pause stays.
func leaveFlags(ctx context.Context, o settings, g stage) (err error) {
	p, err := startProduct(ctx, g.stores, g.scenes[0], g.dir, o.Clients)
	if p != nil {
		defer func() { err = errors.Join(err, p.stop()) }()
	}
	if err != nil {
		return err
	}
	if err := p.Pause(ctx, "bench: flags stay"); err != nil {
		return err
	}
	all := g.scenes[0].names("mesh", o.Flags)
	lines, err := importLines(all, false)
	if err != nil {
		return err
	}
	if err := p.load(ctx, lines, len(all)); err != nil {
		return err
	}
	for set := range slices.Chunk(all, setSize) {
		answer, err := p.DeleteSet(ctx, dependency.SetRequest{IDs: set, Reason: "bench"})
		if err != nil {
			return err
		}
		for _, one := range answer.Results {
			if one.Refusal != nil {
				return fmt.Errorf("delete %s: %w", one.ID, one.Refusal)
			}
		}
	}
	return nil
}

// measureFlags lets the paused services go on and watches the flags until every deletion has ended.
func measureFlags(ctx context.Context, p *product, graph dependency.Graph) (r flagsResult, err error) {
	total, err := flagsLeft(ctx, graph)
	if err != nil {
		return r, err
	}
	m := newMeter([]*child{p.process}, nil)
	if err := p.Resume(ctx); err != nil {
		return r, err
	}
	r.Course = []left{{0, total}}
	err = progress(ctx, func() (int, error) {
		now, err := flagsLeft(ctx, graph)
		r.Course = append(r.Course, left{time.Since(m.began).Seconds(), now})
		return now, err
	})
	if err != nil {
		return r, err
	}
	r.Drained = r.Course[len(r.Course)-1].Seconds
	r.First = float64(total) / 10 / r.at(total*9/10)
	r.Last = float64(total) / 10 / (r.Drained - r.at(total/10))
	fmt.Fprintln(os.Stderr, "no flag is left")
	if err := p.await(ctx); err != nil {
		return r, err
	}
	var by map[string]usage
	r.Ended, by = m.read()
	r.Memory = by[roleServices].Memory
	return r, nil
}

// at is when no more than so many flags were left, in seconds, taken as even between two looks.
func (r flagsResult) at(flags int) float64 {
	i := slices.IndexFunc(r.Course, func(l left) bool { return l.Flags <= flags })
	before, after := r.Course[i-1], r.Course[i]
	share := float64(before.Flags-flags) / float64(before.Flags-after.Flags)
	return before.Seconds + share*(after.Seconds-before.Seconds)
}

func flagsLeft(ctx context.Context, graph dependency.Graph) (n int, err error) {
	err = graph.View(ctx, func(tx dependency.Tx) error {
		n, _, err = tx.CountCommands(ctx, time.Time{}) // without a look at when they are due
		return err
	})
	return n, err
}
