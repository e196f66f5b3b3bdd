package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// importRun is assets imported a second, in one repetition.
type importRun struct {
	Bare float64 `json:"bare_per_second"`
	Ours float64 `json:"tombstone_per_second"`
}

// benchImport measures the product's import next to batched writes of as many nodes into the same graph.
func benchImport(ctx context.Context, o settings) error {
	var runs []importRun
	err := onStage(ctx, o, 0, o.Layout, "ft", func(g stage) (err error) {
		f, err := openFloor(ctx, g.stores, g.scenes[0])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.graph.Close(ctx)) }()
		p, err := startProduct(ctx, g.stores, g.scenes[1], g.dir, o.Clients)
		if p != nil {
			defer func() { err = errors.Join(err, p.stop()) }()
		}
		if err != nil {
			return err
		}
		if o.Warm > 0 {
			if _, err := measureImport(ctx, f, p, g.scenes[1], "warm", o.Warm); err != nil {
				return err
			}
		}
		for number := range o.Runs {
			r, err := measureImport(ctx, f, p, g.scenes[1], fmt.Sprintf("run-%d", number), o.Assets)
			if err != nil {
				return err
			}
			runs = append(runs, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var bare, ours, ratio []float64
	for _, r := range runs {
		bare, ours, ratio = append(bare, r.Bare), append(ours, r.Ours), append(ratio, r.Ours/r.Bare)
	}
	fmt.Printf("%d assets, %d runs on %s stores; min / median / max\n\n", o.Assets, o.Runs, o.Stores)
	fmt.Println("batched writes of nodes, assets/s:", spreadOf(bare).text("%.0f"))
	fmt.Println("import, assets/s:", spreadOf(ours).text("%.0f"))
	fmt.Println("import to batched writes (at least 0.5):", spreadOf(ratio).text("%.2f"))
	return writeJSON(o.JSON, runs)
}

func measureImport(ctx context.Context, f *floor, p *product, sc *scene, what string, n int) (r importRun, err error) {
	began := time.Now()
	if _, err := f.nodes(ctx, f.scene.names(what, n)); err != nil {
		return r, err
	}
	r.Bare = float64(n) / time.Since(began).Seconds()
	lines, err := importLines(sc.names(what, n), false)
	if err != nil {
		return r, err
	}
	began = time.Now()
	err = p.load(ctx, lines, n)
	r.Ours = float64(n) / time.Since(began).Seconds()
	return r, err
}
