package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// fillBatch is how many of the assets beside are made at a time.
const fillBatch = 10_000

// grown is what deletions cost beside so many assets.
type grown struct {
	Beside  int     `json:"assets_beside"`
	Objects int     `json:"of_them_with_objects"`
	Fill    float64 `json:"fill_seconds"` // for those added since the row before
	Each    spread  `json:"ms_a_deletion"`
	Ratio   float64 `json:"ratio_to_first"` // of the medians
	Memory  float64 `json:"services_peak_rss_mb"`
}

// growth lets the same product delete among more and more assets.
type growth struct {
	o      settings
	s      *stores
	sc     *scene
	p      *product
	beside int
}

// benchGrowth measures the time of the same number of deletions beside more and more live assets.
func benchGrowth(ctx context.Context, o settings) error {
	var rows []grown
	err := onStage(ctx, o, 0, o.Layout, "t", func(g stage) (err error) {
		w := &growth{o: o, s: g.stores, sc: g.scenes[0]}
		if w.p, err = startProduct(ctx, g.stores, w.sc, g.dir, o.Clients); w.p != nil {
			defer func() { err = errors.Join(err, w.p.stop()) }()
		}
		if err != nil {
			return err
		}
		if o.Warm > 0 {
			if _, err := w.round(ctx, "warm", o.Warm); err != nil {
				return err
			}
		}
		for _, size := range o.Growth {
			row, err := w.measure(ctx, size)
			if err != nil {
				return fmt.Errorf("beside %d assets: %w", size, err)
			}
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d deletions, %d clients, %d runs on %s stores; min / median / max; ratio to reach: 0.8 to 1.2\n\n", o.Assets, o.Clients, o.Runs, o.Stores)
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "assets beside\twith objects\tfilled in s\tms a deletion\tto the first\tservices, peak RSS MB")
	for i := range rows {
		r := &rows[i]
		r.Ratio = r.Each.Median / rows[0].Each.Median
		fmt.Fprintf(t, "%d\t%d\t%.0f\t%s\t%.2f\t%.0f\n", r.Beside, r.Objects, r.Fill, r.Each.text("%.2f"), r.Ratio, r.Memory)
	}
	_ = t.Flush() // to the terminal
	return writeJSON(o.JSON, rows)
}

// measure fills the stores up to the size and deletes there.
func (w *growth) measure(ctx context.Context, size int) (r grown, err error) {
	fmt.Fprintf(os.Stderr, "%d assets beside\n", size)
	began := time.Now()
	for w.beside < size {
		if err := w.fill(ctx, min(fillBatch, size-w.beside)); err != nil {
			return r, err
		}
	}
	r = grown{Beside: w.beside, Objects: min(w.beside, w.o.ObjectsBeside), Fill: time.Since(began).Seconds()}
	var each []float64
	for number := range w.o.Runs {
		once, err := w.round(ctx, fmt.Sprintf("mesh-%d-%d", size, number), w.o.Assets)
		if err != nil {
			return r, err
		}
		each = append(each, 1000/once.PerSecond)
		r.Memory = max(r.Memory, once.memory())
	}
	r.Each = spreadOf(each)
	return r, nil
}

// fill adds live assets: documents for all, objects for the first so many.
func (w *growth) fill(ctx context.Context, n int) error {
	made, err := w.p.create(ctx, w.sc, w.sc.names(fmt.Sprintf("beside-%d", w.beside), n), false)
	if err != nil {
		return err
	}
	with := max(0, min(n, w.o.ObjectsBeside-w.beside))
	w.beside += n
	return errors.Join(w.s.fillDocuments(ctx, w.sc, made), w.s.fillObjects(ctx, w.sc, made[:with]))
}

// round makes assets and measures their deletion until every one has ended; then nothing of them may be there.
func (w *growth) round(ctx context.Context, what string, n int) (r result, err error) {
	made, err := w.p.create(ctx, w.sc, w.sc.names(what, n), false)
	if err != nil {
		return r, err
	}
	if err := w.s.fill(ctx, w.sc, made); err != nil {
		return r, err
	}
	a := &accepted{}
	r, err = timed(w.o, w.s, w.p, n, what, func() error { return w.p.erase(ctx, ids(made), w.o.Clients, a) })
	if err != nil {
		return r, err
	}
	return r, w.gone(ctx, made)
}

// sampled is how many assets have their objects looked for: among many others a listing of everything takes minutes.
const sampled = 10

// gone looks for the documents of assets, and for the objects of some of them.
func (w *growth) gone(ctx context.Context, assets []asset) (err error) {
	c := contents{}
	if c.documents, err = w.s.lookAtDocuments(ctx, w.sc); err != nil {
		return err
	}
	for _, a := range assets[:min(sampled, len(assets))] {
		for _, key := range slices.Compact(slices.Clone(a.objects)) {
			found, err := w.s.versionsBelow(ctx, w.sc, key)
			if err != nil {
				return err
			}
			c.versions = append(c.versions, found...)
		}
	}
	return c.absent(assets)
}
