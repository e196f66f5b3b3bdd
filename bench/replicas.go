package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// replicasResult is one run: the same work done by one replica of each service, and by several.
type replicasResult struct {
	one, several result
}

// benchReplicas measures how fast several replicas of each service delete, next to one on the same stores. Who goes first
// changes with each run.
func benchReplicas(ctx context.Context, o settings) error {
	fmt.Printf("run | one replica, deletions/s | %d replicas, deletions/s | ratio | CPU ms a deletion: services, stores | with %d: services, stores\n", o.Replicas, o.Replicas)
	var ratios []float64
	for number := range o.Runs {
		m, err := measureReplicas(ctx, o, number)
		if err != nil {
			return fmt.Errorf("run %d: %w", number+1, err)
		}
		ratio := m.several.PerSecond / m.one.PerSecond
		ratios = append(ratios, ratio)
		fmt.Printf("%d | %.0f | %.0f | %.2f | %s | %s\n", number+1, m.one.PerSecond, m.several.PerSecond, ratio, o.shares(m.one), o.shares(m.several))
	}
	slices.Sort(ratios)
	fmt.Printf("ratio, min / median / max: %.2f / %.2f / %.2f\n", ratios[0], ratios[(len(ratios)-1)/2], ratios[len(ratios)-1])
	return nil
}

// shares tells the CPU time of a deletion, in milliseconds: in all services, and in all stores that are measured.
func (o settings) shares(r result) string {
	var services, stores float64
	for name, used := range r.Processes {
		switch {
		case strings.HasPrefix(name, roleServices):
			services += used.CPU
		case name != clientsName:
			stores += used.CPU
		}
	}
	each := 1000 / float64(o.Assets)
	return fmt.Sprintf("%.1f, %.1f", services*each, stores*each)
}

func measureReplicas(ctx context.Context, o settings, number int) (m replicasResult, err error) {
	return m, onStage(ctx, o, number, o.Layout, "1n", func(g stage) error {
		one := func() (err error) {
			m.one, err = measureOurs(ctx, o, g.stores, g.scenes[0], g.dir, 1)
			return err
		}
		several := func() (err error) {
			m.several, err = measureOurs(ctx, o, g.stores, g.scenes[1], g.dir, o.Replicas)
			return err
		}
		if number%2 == 0 {
			return errors.Join(one(), several())
		}
		return errors.Join(several(), one())
	})
}
