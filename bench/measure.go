package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// result is one way in one run.
type result struct {
	Seconds   float64          `json:"seconds"`
	PerSecond float64          `json:"per_second"`
	AcceptP50 float64          `json:"accept_p50_ms,omitempty"`
	AcceptP99 float64          `json:"accept_p99_ms,omitempty"`
	Processes map[string]usage `json:"processes"`
}

// run is all ways on the same stores.
type run struct {
	Floor  result `json:"floor"`
	Proved result `json:"proved_floor"`
	Ours   result `json:"tombstone"`
}

// bystanders is how many live assets, with all their parts, lie among those deleted; nothing may touch them.
const bystanders = 10

// measure is one run, on empty stores.
func measure(ctx context.Context, o settings, number int) (m run, err error) {
	return m, onStage(ctx, o, number, o.Layout, "fpt", func(g stage) (err error) {
		if m.Floor, err = measureFloor(ctx, o, g.stores, g.scenes[0], "floor", (*floor).erase); err != nil {
			return fmt.Errorf("bare floor: %w", err)
		}
		if m.Proved, err = measureFloor(ctx, o, g.stores, g.scenes[1], "proved", (*floor).eraseProved); err != nil {
			return fmt.Errorf("proved floor: %w", err)
		}
		if m.Ours, err = measureOurs(ctx, o, g.stores, g.scenes[2], g.dir, 1); err != nil {
			return fmt.Errorf("tombstone: %w", err)
		}
		return nil
	})
}

// measureFloor fills a scene and deletes it in one of the bare ways.
func measureFloor(ctx context.Context, o settings, s *stores, sc *scene, way string, erase func(*floor, context.Context, []asset) error) (r result, err error) {
	f, err := openFloor(ctx, s, sc)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.graph.Close(ctx)) }()
	assets, err := f.fill(ctx, sc.names("mesh", o.Assets))
	if err != nil {
		return r, err
	}
	warm, err := f.fill(ctx, sc.names("warm", o.Warm))
	if err != nil {
		return r, err
	}
	if err := erase(f, ctx, warm); err != nil {
		return r, err
	}
	return timed(o, s, nil, len(assets), way, func() error {
		if err := erase(f, ctx, assets); err != nil {
			return err
		}
		return s.expect(ctx, sc, nil)
	})
}

// measureOurs fills a scene and lets so many replicas of the product delete it.
func measureOurs(ctx context.Context, o settings, s *stores, sc *scene, dir string, replicas int) (r result, err error) {
	p, err := startReplicas(ctx, s, sc, dir, o.Clients, replicas)
	if p != nil {
		defer func() { err = errors.Join(err, p.stop()) }()
	}
	if err != nil {
		return r, err
	}
	assets, err := p.create(ctx, sc, sc.names("mesh", o.Assets), o.Cascade)
	if err != nil {
		return r, err
	}
	live, err := p.create(ctx, sc, sc.names("bystander", bystanders), false)
	if err != nil {
		return r, err
	}
	warm, err := p.create(ctx, sc, sc.names("warm", o.Warm), false)
	if err != nil {
		return r, err
	}
	if err := s.fill(ctx, sc, slices.Concat(assets, live, warm)); err != nil {
		return r, err
	}
	if err := p.erase(ctx, ids(warm), o.Clients, &accepted{}); err != nil {
		return r, err
	}
	asked := ids(assets)
	if o.Cascade {
		asked = asked[:1]
	}
	a := &accepted{}
	r, err = timed(o, s, p, len(assets), "tombstone", func() error {
		if err := p.erase(ctx, asked, o.Clients, a); err != nil {
			return err
		}
		return s.expect(ctx, sc, live)
	})
	if err != nil {
		return r, err
	}
	r.AcceptP50, r.AcceptP99 = percentile(a.times, 50), percentile(a.times, 99)
	return r, p.verify(ctx, a, slices.Concat(assets, warm), live)
}

// timed measures what do does to n assets.
func timed(o settings, s *stores, p *product, n int, way string, do func() error) (result, error) {
	processes := []*child{s.process}
	if p != nil {
		processes = append(processes, p.process)
		for _, another := range p.more {
			processes = append(processes, another.process)
		}
	}
	processes = slices.DeleteFunc(processes, func(c *child) bool { return c == nil })
	m := newMeter(processes, o.PIDs)
	if err := profiled(o.Profiles, way, processes, do); err != nil {
		return result{}, err
	}
	seconds, used := m.read()
	return result{Seconds: seconds, PerSecond: float64(n) / seconds, Processes: used}, nil
}

// percentile in milliseconds.
func percentile(times []time.Duration, p int) float64 {
	slices.Sort(times)
	return times[(len(times)-1)*p/100].Seconds() * 1000
}
