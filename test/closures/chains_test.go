package closures

import (
	"fmt"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

func BenchmarkChainsOnSQLite(b *testing.B) { chains(b, onSQLite(b)) }

func BenchmarkChainsOnNeo4j(b *testing.B) { chains(b, onNeo4j(b)) }

// chains measures deletions of chains, in which every asset takes the next one along: as its part, or as what it is the last
// to use.
func chains(b *testing.B, g dependency.Graph) {
	s, ctx := serviceOn(b, g)
	for _, length := range []int{100, 1000, 9000} {
		for _, linkType := range []string{"PART_OF", "USES"} {
			b.Run(fmt.Sprintf("%d by %s", length, linkType), func(b *testing.B) {
				var planning, accepting, cancelling time.Duration
				for b.Loop() {
					b.StopTimer()
					root := grow(b, g, "slow", length, func(ids []string, i int) dependency.Link {
						if linkType == "USES" {
							return dependency.Link{From: ids[i-1], Type: linkType, To: ids[i]}
						}
						return dependency.Link{From: ids[i], Type: linkType, To: ids[i-1]}
					})[0]
					b.StartTimer()
					begun := time.Now()
					plan, err := s.Plan(ctx, root, dependency.PlanRequest{})
					if err != nil || len(plan.Assets) != length {
						b.Fatalf("%d assets are planned, %v", len(plan.Assets), err)
					}
					planned := time.Now()
					d, err := s.Delete(ctx, root, dependency.DeleteRequest{})
					if err != nil || d.Assets.Total != length {
						b.Fatalf("%d assets go, %v", d.Assets.Total, err)
					}
					accepted := time.Now()
					if _, err := s.Cancel(ctx, d.ID); err != nil {
						b.Fatal(err)
					}
					planning, accepting, cancelling = planning+planned.Sub(begun), accepting+accepted.Sub(planned), cancelling+time.Since(accepted)
				}
				b.ReportMetric(float64(planning.Milliseconds())/float64(b.N), "plan-ms")
				b.ReportMetric(float64(accepting.Milliseconds())/float64(b.N), "accept-ms")
				b.ReportMetric(float64(cancelling.Milliseconds())/float64(b.N), "cancel-ms")
			})
		}
	}
}
