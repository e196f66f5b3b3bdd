// Package closures measures how long it takes to plan and to accept a deletion that takes others along, by the size of what
// goes and of what is beside it: the time should grow with the closure, not with the graph.
package closures

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

const policyText = `
links: {PART_OF: {on_target_delete: cascade}, DEPENDS_ON: {on_target_delete: restrict}, REFERENCES: {on_target_delete: detach},
  USES: {on_target_delete: restrict, on_last_source: delete}}
kinds: {thing: {}, slow: {grace: 1h}}
`

// nowhere are stores in which nothing lies: things have no parts.
type nowhere struct{ dependency.Stores }

func (nowhere) Look(_ context.Context, targets []events.Target) ([]events.Sight, error) {
	return make([]events.Sight, len(targets)), nil
}

func BenchmarkClosuresOnSQLite(b *testing.B) { measure(b, onSQLite(b)) }

func BenchmarkClosuresOnNeo4j(b *testing.B) { measure(b, onNeo4j(b)) }

func onSQLite(t testing.TB) dependency.Graph {
	t.Helper()
	g, err := sqlite.Open(t.TempDir() + "/graph.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	return g
}

func onNeo4j(t testing.TB) dependency.Graph {
	t.Helper()
	g, err := neo4j.Open(t.Context(), neo4jConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	return g
}

// neo4jConfig is that of the shared server, with a label of this test alone.
func neo4jConfig(t testing.TB) neo4j.Config {
	t.Helper()
	addr := containers.Neo4j(t)
	p := parse(t)
	p.Graph.Label = containers.Name(t)
	return neo4j.Config{URI: addr.URI, User: addr.User, Password: addr.Password, Names: p.Graph, Links: p.Links}
}

func parse(t testing.TB) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("closures.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serviceOn is the service on a graph, and an operator's context.
func serviceOn(t testing.TB, g dependency.Graph) (*dependency.Service, context.Context) {
	t.Helper()
	s, err := dependency.New(dependency.Config{Graph: g, Policy: parse(t), Stores: nowhere{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, dependency.WithCaller(t.Context(), dependency.Caller{Subject: "test", Owner: "acme", Operator: true})
}

// measure asks beside few assets, then beside many. Each closure is a tree of ten children a node, made anew for each round.
func measure(b *testing.B, g dependency.Graph) {
	s, ctx := serviceOn(b, g)
	beside := 0
	for _, more := range []int{1000, 50_000} {
		for ; beside < more; beside += 1000 {
			tree(b, g, 1000)
		}
		for _, size := range []int{1, 100, 10_000} {
			b.Run(fmt.Sprintf("%d of them beside %d others", size, beside), func(b *testing.B) {
				var planning, accepting time.Duration
				for b.Loop() {
					b.StopTimer()
					root := tree(b, g, size)
					b.StartTimer()
					begun := time.Now()
					plan, err := s.Plan(ctx, root, dependency.PlanRequest{})
					planned := time.Now()
					if err == nil && len(plan.Assets) != size {
						err = fmt.Errorf("%d assets are planned", len(plan.Assets))
					}
					if err == nil {
						_, err = s.Delete(ctx, root, dependency.DeleteRequest{IfPlan: plan.Hash})
					}
					if err != nil {
						b.Fatal(err)
					}
					planning, accepting = planning+planned.Sub(begun), accepting+time.Since(planned)
				}
				b.ReportMetric(float64(planning.Microseconds())/1000/float64(b.N), "plan-ms")
				b.ReportMetric(float64(accepting.Microseconds())/1000/float64(b.N), "accept-ms")
			})
		}
	}
}

// tree makes live assets, each but the first a part of another, and gives the first.
func tree(t testing.TB, g dependency.Graph, size int) (root string) {
	return grow(t, g, "thing", size, func(ids []string, i int) dependency.Link {
		return dependency.Link{From: ids[i], Type: "PART_OF", To: ids[(i-1)/10]}
	})[0]
}

// grow makes live assets, and the link of each but the first.
func grow(t testing.TB, g dependency.Graph, kind string, size int, link func(ids []string, i int) dependency.Link) (ids []string) {
	t.Helper()
	return growFor(t, g, "acme", kind, size, link)
}

// growFor is grow for an owner.
func growFor(t testing.TB, g dependency.Graph, owner, kind string, size int, link func(ids []string, i int) dependency.Link) (ids []string) {
	t.Helper()
	now := time.Now().UTC()
	const chunk = 1000
	for first := 0; first < size; first += chunk {
		var nodes []dependency.Node
		var links []dependency.Link
		for i := first; i < min(first+chunk, size); i++ {
			id := uuid.NewString()
			ids = append(ids, id)
			nodes = append(nodes, dependency.Node{ID: id, Kind: kind, Owner: owner, Generation: uuid.Must(uuid.NewV7()).String(), Status: dependency.Live,
				CreatedAt: now, UpdatedAt: now})
			if i > 0 {
				links = append(links, link(ids, i))
			}
		}
		err := g.Update(t.Context(), func(tx dependency.Tx) error {
			return errors.Join(tx.SaveNodes(t.Context(), nodes), tx.SaveLinks(t.Context(), links),
				tx.AddUsage(t.Context(), map[string]dependency.Usage{owner: {Assets: int64(len(nodes))}}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return ids
}
