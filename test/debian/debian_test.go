package debian

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

const policyText = `
links: {DEPENDS_ON: {on_target_delete: restrict}}
kinds: {package: {}}
`

func TestReadTakesEveryAlternativeThatExists(t *testing.T) {
	dump := "Package: a\nDepends: b (>= 1), c | d:any, virtual, a\nPre-Depends: b\n\nPackage: b\nDescription: x\n Depends: c\n\nPackage: c\nDepends: a\n\nPackage: d\n"
	g, err := Read(bytes.NewBufferString(dump))
	if err != nil {
		t.Fatal(err)
	}
	want := &Graph{Names: []string{"a", "b", "c", "d"}, Needs: map[string][]string{"a": {"b", "c", "d"}, "c": {"a"}}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
}

func TestDebianOnSQLite(t *testing.T) {
	g, err := sqlite.Open(t.TempDir() + "/graph.db")
	if err != nil {
		t.Fatal(err)
	}
	againstOracle(t, g)
}

func TestDebianOnNeo4j(t *testing.T) {
	addr := containers.Neo4j(t)
	p := parsePolicy(t)
	p.Graph.Label = containers.Name(t)
	g, err := neo4j.Open(t.Context(), neo4j.Config{URI: addr.URI, User: addr.User, Password: addr.Password, Names: p.Graph, Links: p.Links})
	if err != nil {
		t.Fatal(err)
	}
	againstOracle(t, g)
}

func parsePolicy(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("debian.yaml", []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// archive is the list of this machine; the test is skipped where there is none.
func archive(t *testing.T) *Graph {
	t.Helper()
	if _, err := exec.LookPath("apt-cache"); err != nil {
		t.Skip("no apt-cache on this machine, so there is no package list to read")
	}
	out, err := exec.Command("apt-cache", "dumpavail").Output()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		const empty = "apt-cache knows no packages: run apt-get update"
		if os.Getenv("CI") == "true" {
			t.Fatal(empty)
		}
		t.Skip(empty)
	}
	g, err := Read(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		return g.First(4000)
	}
	return g
}

// againstOracle imports the archive, then asks for deletions in a random order and holds every answer against what a plain
// map says: accepted, or refused with exactly these dependants.
func againstOracle(t *testing.T, graph dependency.Graph) {
	t.Cleanup(func() { graph.Close(context.Background()) })
	packages := archive(t)
	s, err := dependency.New(dependency.Config{Graph: graph, Policy: parsePolicy(t), Stores: nowhere{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := dependency.WithCaller(t.Context(), dependency.Caller{Subject: "test", Owner: "debian", Operator: true})
	links := importAll(t, ctx, s, packages)
	t.Logf("%d packages, %d links", len(packages.Names), links)

	needed := map[string]map[string]bool{}
	for from, to := range packages.Needs {
		for _, name := range to {
			if needed[name] == nil {
				needed[name] = map[string]bool{}
			}
			needed[name][from] = true
		}
	}
	const seed = 20260301
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	asked := slices.Clone(packages.Names)
	rnd.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	asked = append(asked[:2000:2000], hubs(packages)...)
	accepted, refusals := 0, 0
	gone := map[string]bool{}
	for _, name := range asked {
		_, err := s.Delete(ctx, name, dependency.DeleteRequest{Reason: "oracle"})
		switch want := needed[name]; {
		case gone[name] || len(want) == 0:
			if err != nil {
				t.Fatalf("%s: %v; nothing live needs it", name, err)
			}
			if !gone[name] {
				accepted++
			}
			gone[name] = true
			for _, to := range packages.Needs[name] {
				delete(needed[to], name)
			}
		default:
			refusals++
			compareRefusal(t, name, err, want)
		}
	}
	takeAlong(t, ctx, s, graph, asked, gone, needed)
	t.Logf("%d accepted, %d refused", accepted, refusals)
	if accepted == 0 || refusals == 0 {
		t.Error("the sample shows only one of the two answers")
	}
}

// nowhere are stores in which nothing lies: packages have no parts.
type nowhere struct{ dependency.Stores }

func (nowhere) Look(_ context.Context, targets []events.Target) ([]events.Sight, error) {
	return make([]events.Sight, len(targets)), nil
}

// takeAlong plans and deletes 200 packages with all that needs them, and wants exactly the closure of the plain map to be
// planned and to go; one above the limit is refused with its size.
func takeAlong(t *testing.T, ctx context.Context, s *dependency.Service, graph dependency.Graph, asked []string, gone map[string]bool, needed map[string]map[string]bool) {
	t.Helper()
	const limit = 10000 // the policy's default
	tried, taken := 0, 0
	for _, name := range slices.Backward(asked) {
		if gone[name] || tried == 200 {
			continue
		}
		tried++
		want := closure(name, needed)
		plan, planErr := s.Plan(ctx, name, dependency.PlanRequest{WithDependants: true})
		d, err := s.Delete(ctx, name, dependency.DeleteRequest{WithDependants: true, IfPlan: plan.Hash})
		if len(want) > limit {
			for _, err := range []error{planErr, err} {
				if p := problem.As(err); p == nil || p.Name != problem.TooManyAssets || p.Members["assets_total"] != len(want) {
					t.Fatalf("%s with its dependants: %v; they are %d", name, err, len(want))
				}
			}
			continue
		}
		if planErr != nil || err != nil {
			t.Fatalf("%s with its dependants: %v, %v", name, planErr, err)
		}
		planned := map[string]bool{}
		for _, a := range plan.Assets {
			planned[a.ID] = true
		}
		if diff := cmp.Diff(want, planned); diff != "" {
			t.Fatalf("%s is planned with others than the map says (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want, assetsOf(t, graph, d.ID)); diff != "" {
			t.Fatalf("%s takes others along than the map says (-want +got):\n%s", name, diff)
		}
		for id := range want {
			gone[id] = true
			for _, sources := range needed {
				delete(sources, id)
			}
		}
		taken += len(want)
	}
	t.Logf("%d with their dependants: %d packages", tried, taken)
}

// closure is a package with all that needs it, directly or not.
func closure(name string, needed map[string]map[string]bool) map[string]bool {
	all := map[string]bool{}
	for todo := []string{name}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !all[id] {
			all[id] = true
			todo = slices.AppendSeq(todo, maps.Keys(needed[id]))
		}
	}
	return all
}

// assetsOf are the assets of a deletion.
func assetsOf(t *testing.T, graph dependency.Graph, deletion string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := graph.View(t.Context(), func(tx dependency.Tx) error {
		for after := -1; ; {
			page, err := tx.ListErasures(t.Context(), deletion, after, 1000)
			if err != nil || len(page) == 0 {
				return err
			}
			for _, e := range page {
				all[e.Asset] = true
			}
			after = page[len(page)-1].Position
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hubs are packages that many others need, as far as the graph has them; libc6 is in a cycle.
func hubs(g *Graph) (names []string) {
	for _, name := range []string{"libc6", "perl", "python3", "gcc-12-base"} {
		if slices.Contains(g.Names, name) {
			names = append(names, name)
		}
	}
	return names
}

// compareRefusal wants exactly the dependants of the oracle: all of them up to 100, else 100 of them and the right total.
func compareRefusal(t *testing.T, name string, err error, want map[string]bool) {
	t.Helper()
	p := problem.As(err)
	if p == nil || p.Name != problem.HasDependants {
		t.Fatalf("%s: %v; %d packages need it", name, err, len(want))
	}
	named := p.Members["dependants"].([]string)
	if total := p.Members["dependants_total"]; total != len(want) || len(named) != min(len(want), 100) {
		t.Fatalf("%s: total %v with %d named; want %d", name, total, len(named), len(want))
	}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(named))) {
		if !want[n] {
			t.Fatalf("%s: %s does not need it", name, n)
		}
	}
}

// importAll streams the archive in and wants every line taken; it tells the number of links.
func importAll(t *testing.T, ctx context.Context, s *dependency.Service, packages *Graph) (links int) {
	t.Helper()
	r, w := io.Pipe()
	go func() {
		enc := json.NewEncoder(w)
		for _, name := range packages.Names {
			to := []dependency.LinkTo{}
			for _, n := range packages.Needs[name] {
				to = append(to, dependency.LinkTo{Type: "DEPENDS_ON", To: n})
			}
			if err := enc.Encode(dependency.ImportLine{ID: name, Put: dependency.Put{Kind: "package", Links: &to}}); err != nil {
				w.CloseWithError(err)
				return
			}
		}
		w.Close()
	}()
	got, err := s.ImportAssets(ctx, r)
	if err != nil || got.Created != len(packages.Names) || got.Failed != 0 {
		t.Fatalf("import: %+v, %v; want %d created", got, err, len(packages.Names))
	}
	for _, to := range packages.Needs {
		links += len(to)
	}
	return links
}
