package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// counts are numbers above 0, as `1,3,100`.
type counts []int

func (c *counts) String() string { return "" } // the default is none

func (c *counts) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number above 0", part)
		}
		*c = append(*c, n)
	}
	return nil
}

// objectsResult is one number of objects an asset.
type objectsResult struct {
	PerAsset int    `json:"objects_per_asset"`
	Assets   int    `json:"assets"`
	Stream   result `json:"stream"`
	Ours     result `json:"tombstone"`
}

// benchObjects measures objects deleted a second for assets of different sizes, each on fresh stores, next to one stream of
// DeleteObjects calls that deletes as many objects which it knows already.
func benchObjects(ctx context.Context, o settings) error {
	fmt.Println("objects an asset | assets | tombstone objects/s | one stream objects/s | of the stream | seconds | services peak RSS MB")
	for i, perAsset := range o.Objects {
		fmt.Fprintf(os.Stderr, "%d objects an asset\n", perAsset)
		r, err := measureObjects(ctx, o, i, perAsset)
		if err != nil {
			return fmt.Errorf("%d objects an asset: %w", perAsset, err)
		}
		fmt.Printf("%d | %d | %.0f | %.0f | %.2f | %.1f | %.0f\n", r.PerAsset, r.Assets, r.Ours.PerSecond, r.Stream.PerSecond,
			r.Ours.PerSecond/r.Stream.PerSecond, r.Ours.Seconds, r.Ours.Processes[roleServices].Memory)
	}
	return nil
}

func measureObjects(ctx context.Context, o settings, number, perAsset int) (r objectsResult, err error) {
	r = objectsResult{PerAsset: perAsset, Assets: max(1, o.Assets/perAsset)}
	return r, onStage(ctx, o, number, "objects", "ft", func(g stage) (err error) {
		bare, ours := g.scenes[0], g.scenes[1]
		bare.perAsset, ours.perAsset = perAsset, perAsset
		if r.Stream, err = measureStream(ctx, o, g.stores, bare, r.Assets); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		r.Ours, err = measureProduct(ctx, o, g.stores, ours, g.dir, r.Assets)
		return err
	})
}

// measureProduct lets the product delete so many assets, and none of those beside them.
func measureProduct(ctx context.Context, o settings, s *stores, sc *scene, dir string, n int) (r result, err error) {
	p, err := startProduct(ctx, s, sc, dir, o.Clients)
	if p != nil {
		defer func() { err = errors.Join(err, p.process.stop()) }()
	}
	if err != nil {
		return r, err
	}
	assets, err := p.create(ctx, sc, sc.names("mesh", n), false)
	if err != nil {
		return r, err
	}
	objects := n * sc.perAsset
	sc.perAsset = 1
	live, err := p.create(ctx, sc, sc.names("bystander", bystanders), false)
	if err != nil {
		return r, err
	}
	if err := s.fill(ctx, sc, slices.Concat(assets, live)); err != nil {
		return r, err
	}
	a := &accepted{}
	r, err = timed(o, s, p, objects, "tombstone", func() error { return p.erase(ctx, ids(assets), o.Clients, a) })
	return r, errors.Join(err, s.expect(ctx, sc, live), p.verify(ctx, a, assets, live))
}

// measureStream deletes the objects of assets with one call after the other, each of 1,000 keys.
func measureStream(ctx context.Context, o settings, s *stores, sc *scene, n int) (r result, err error) {
	assets, err := sc.assets(sc.names("mesh", n))
	if err != nil {
		return r, err
	}
	if err := s.fillObjects(ctx, sc, assets); err != nil {
		return r, err
	}
	found, err := s.versions(ctx, sc)
	if err != nil {
		return r, err
	}
	r, err = timed(o, s, nil, len(found), "stream", func() error {
		for chunk := range slices.Chunk(found, bareBatch) {
			if err := s.deleteObjects(ctx, sc.bucket(), chunk); err != nil {
				return err
			}
		}
		return nil
	})
	return r, errors.Join(err, s.expect(ctx, sc, nil))
}
