package closures

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func BenchmarkChainsOnSQLite(b *testing.B) { chains(b, onSQLite(b)) }

func BenchmarkChainsOnNeo4j(b *testing.B) { chains(b, onNeo4j(b)) }

// chains measures the deletion of chains, in which every asset takes the next one along: as its part, or as what it is the last
// to use. One with a grace period is planned, accepted and cancelled, another one is accepted and completed.
func chains(b *testing.B, g dependency.Graph) {
	s, ctx := serviceOn(b, g)
	for _, length := range []int{100, 1000, 9000} {
		for _, linkType := range []string{"PART_OF", "USES"} {
			b.Run(fmt.Sprintf("%d by %s", length, linkType), func(b *testing.B) {
				l := laps{}
				for b.Loop() {
					b.StopTimer()
					slow, thing := chain(b, g, "slow", length, linkType), chain(b, g, "thing", length, linkType)
					b.StartTimer()
					d := l.accept(ctx, b, s, slow, length)
					l.lap("cancel", func() {
						if _, err := s.Cancel(ctx, d.ID); err != nil {
							b.Fatal(err)
						}
					})
					l.complete(ctx, b, s, thing)
				}
				for name, took := range l {
					b.ReportMetric(float64(took.Milliseconds())/float64(b.N), name+"-ms")
				}
			})
		}
	}
}

// chain makes live assets in a row, and gives the one whose deletion takes all.
func chain(b *testing.B, g dependency.Graph, kind string, length int, linkType string) (root string) {
	return grow(b, g, kind, length, func(ids []string, i int) dependency.Link {
		if linkType == "USES" {
			return dependency.Link{From: ids[i-1], Type: linkType, To: ids[i]}
		}
		return dependency.Link{From: ids[i], Type: linkType, To: ids[i-1]}
	})[0]
}

// laps are the times of what was done, by name.
type laps map[string]time.Duration

func (l laps) lap(name string, do func()) {
	begun := time.Now()
	do()
	l[name] += time.Since(begun)
}

// accept plans the deletion of an asset and asks for it.
func (l laps) accept(ctx context.Context, b *testing.B, s *dependency.Service, root string, size int) (d dependency.Deletion) {
	l.lap("plan", func() {
		plan, err := s.Plan(ctx, root, dependency.PlanRequest{})
		if err != nil || len(plan.Assets) != size {
			b.Fatalf("%d assets are planned, %v", len(plan.Assets), err)
		}
	})
	l.lap("accept", func() {
		var err error
		if d, err = s.Delete(ctx, root, dependency.DeleteRequest{}); err != nil || d.Assets.Total != size {
			b.Fatalf("%d assets go, %v", d.Assets.Total, err)
		}
	})
	return d
}

// complete deletes an asset, and reports all that goes with it as erased.
func (l laps) complete(ctx context.Context, b *testing.B, s *dependency.Service, root string) {
	b.StopTimer()
	plan, err := s.Plan(ctx, root, dependency.PlanRequest{})
	if err != nil {
		b.Fatal(err)
	}
	d, err := s.Delete(ctx, root, dependency.DeleteRequest{IfPlan: plan.Hash})
	if err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
	l.lap("complete", func() { report(b, s, d.ID, plan.Assets...) })
	if d, err = s.Deletion(ctx, d.ID, ""); err != nil || d.Status != dependency.Deleted {
		b.Fatalf("the deletion is %s, %v", d.Status, err)
	}
}
