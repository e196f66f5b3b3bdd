package neo4j_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/test/containers"
)

// hostile are names that would be more than names if they were put into a statement as they are.
var hostile = []string{
	"`) DETACH DELETE n //", `\u0060) DETACH DELETE n //`, "<asset>", `\\u0060`, `\`, "``", "<id>", "$id", "%s", "-[:X]->", "'\"{}", "名前🪦",
}

func TestNamesOfThePolicyAreNothingButNames(t *testing.T) {
	a := containers.Neo4j(t)
	for first := range hostile {
		if first%3 != 0 {
			continue // each name comes in several places all the same
		}
		name := func(i int) string { return hostile[(first+i)%len(hostile)] }
		t.Run(name(0), func(t *testing.T) {
			c := config(t)
			raw(t, a, "CREATE (:Bystander)", nil)
			c.Names = policy.Graph{Label: name(0), ID: name(1), Kind: name(2), Owner: name(3)}
			c.Links = map[string]policy.Link{name(4): {}, name(5): {Reversed: true}}
			g := open(t, c)
			defer func() { _ = g.Close(t.Context()) }()
			exercise(t, g, name(4), name(5))
			got := raw(t, a, "MATCH (n) RETURN labels(n)[0], count(n) ORDER BY count(n)", nil)
			same(t, []any{"Bystander", int64(1)}, got[0].Values)
			same(t, []any{name(0), int64(2)}, got[1].Values)
			for _, index := range raw(t, a, "SHOW INDEXES YIELD name, labelsOrTypes, owningConstraint WHERE $label IN labelsOrTypes RETURN name, owningConstraint", map[string]any{"label": name(0)}) {
				drop(t, a, index.Values[0].(string), index.Values[1] != nil)
			}
		})
	}
}

// drop removes an index or the constraint that owns it; their names are the server's own.
func drop(t *testing.T, a containers.Neo4jAddr, name string, constraint bool) {
	t.Helper()
	what := "INDEX"
	if constraint {
		what = "CONSTRAINT"
	}
	raw(t, a, fmt.Sprintf("DROP %s %s", what, name), nil)
}

// exercise uses every name in statements of all sorts.
func exercise(t *testing.T, g *neo4j.Graph, forward, reversed string) {
	t.Helper()
	ctx := deadline(t)
	a := dependency.Node{ID: "a", Kind: "k", Owner: "o", Generation: newID(), Status: dependency.Live}
	b := a
	b.ID = "b"
	ab, ba := dependency.Link{From: "a", Type: forward, To: "b"}, dependency.Link{From: "b", Type: reversed, To: "a"}
	err := g.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.SaveNodes(ctx, []dependency.Node{a, b}); err != nil {
			return err
		}
		if err := tx.SaveLinks(ctx, []dependency.Link{ab, ba}); err != nil {
			return err
		}
		return tx.Lock(ctx, dependency.Locks{Assets: []string{"b", "a"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = g.View(ctx, func(tx dependency.Tx) error {
		listed, err := tx.ListNodes(ctx, dependency.NodeFilter{Kind: "k", Owner: "o"})
		same(t, []dependency.Node{a, b}, listed)
		if err != nil {
			return err
		}
		links, err := tx.Outgoing(ctx, []string{"a", "b"})
		same(t, []dependency.Link{ab, ba}, links)
		if err != nil {
			return err
		}
		found, err := tx.Dependants(ctx, []string{"a", "b"}, []string{forward, reversed}, 1)
		same(t, map[string]dependency.Dependants{"b": {First: []string{"a"}, Total: 1}, "a": {First: []string{"b"}, Total: 1}}, found)
		if err != nil {
			return err
		}
		both := []string{forward, reversed}
		ahead, err := tx.Ahead(ctx, []string{"a"}, both, both, 10)
		same(t, []string{"b"}, ahead)
		if err != nil {
			return err
		}
		incoming, err := tx.Incoming(ctx, "a", nil, dependency.Link{}, 10)
		same(t, []dependency.Source{{Link: ba, Kind: "k", Owner: "o", Status: dependency.Live}}, incoming)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = g.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.RemoveLinks(ctx, []dependency.Link{ba}); err != nil {
			return err
		}
		n, err := tx.Unlink(ctx, []string{"a"}, 10)
		same(t, 1, n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("not as wanted (-want +got):\n%s", diff)
	}
}

func TestAnAdoptedGraphKeepsItsOwnNamesAndProperties(t *testing.T) {
	a := containers.Neo4j(t)
	c := config(t)
	c.Names = policy.Graph{Label: "Thing", ID: "uri", Kind: "class", Owner: "tenant"}
	c.Links = map[string]policy.Link{"HAS_PART": {Type: "HAS_PART", Reversed: true}, "USES": {Type: "USES"}}
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("Offset", 3600))
	raw(t, a, `
		CREATE (a:Thing {uri: 'a', class: 'scene', tenant: 'acme', path: 'scenes/a.usd', layers: 3, tags: ['x', 'y'], made: $made,
			where: point({x: 1, y: 2}), status: 'reviewed'}),
			(b:Thing {uri: 'b', class: 'mesh', tenant: 'acme'}), (stranger:Other {uri: 'b'})
		CREATE (a)-[:HAS_PART]->(b), (a)-[:HAS_PART]->(b), (a)-[:USES]->(b), (a)-[:LIKES]->(b), (stranger)-[:USES]->(b), (b)-[:HAS_PART]->(stranger)`,
		map[string]any{"made": made})
	g := open(t, c)
	defer func() { _ = g.Close(t.Context()) }()
	ctx := deadline(t)

	node := dependency.Node{ID: "a", Kind: "scene", Owner: "acme", Status: dependency.Live, Attributes: map[string]any{
		"path": "scenes/a.usd", "layers": 3.0, "tags": []any{"x", "y"}, "made": "2026-03-01T11:00:00Z",
	}}
	partOf, use := dependency.Link{From: "b", Type: "HAS_PART", To: "a"}, dependency.Link{From: "a", Type: "USES", To: "b"}
	err := g.View(ctx, func(tx dependency.Tx) error {
		found, err := tx.Nodes(ctx, []string{"a"})
		same(t, map[string]dependency.Node{"a": node}, found)
		if err != nil {
			return err
		}
		listed, err := tx.ListNodes(ctx, dependency.NodeFilter{Owner: "acme", Statuses: []dependency.Status{dependency.Live}})
		same(t, 2, len(listed))
		if err != nil {
			return err
		}
		links, err := tx.Outgoing(ctx, []string{"a", "b"})
		same(t, []dependency.Link{use, partOf}, links)
		if err != nil {
			return err
		}
		ahead, err := tx.Ahead(ctx, []string{"a"}, []string{"HAS_PART"}, nil, 10)
		same(t, []string{"b"}, ahead)
		if err != nil {
			return err
		}
		dependants, err := tx.Dependants(ctx, []string{"a", "b"}, []string{"HAS_PART", "USES"}, 10)
		same(t, map[string]dependency.Dependants{"a": {First: []string{"b"}, Total: 1}, "b": {First: []string{"a"}, Total: 1}}, dependants)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	node.Generation, node.CreatedAt = newID(), made.UTC()
	err = g.Update(ctx, func(tx dependency.Tx) error {
		if err := tx.SaveNodes(ctx, []dependency.Node{node}); err != nil {
			return err
		}
		if err := tx.SaveLinks(ctx, []dependency.Link{{From: "b", Type: "HAS_PART", To: "a", Hidden: "d"}}); err != nil {
			return err
		}
		found, err := tx.Nodes(ctx, []string{"a"})
		same(t, map[string]dependency.Node{"a": node}, found)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := raw(t, a, "MATCH (n:Thing {uri: 'a'}) RETURN n.path, n.layers, n.where IS NOT NULL, n.status, COUNT { (n)-[:HAS_PART]->() }, COUNT { (n)-[:LIKES]->() }", nil)
	same(t, []any{"scenes/a.usd", int64(3), true, "live", int64(2), int64(1)}, got[0].Values)

	err = g.Update(ctx, func(tx dependency.Tx) error {
		n, err := tx.Unlink(ctx, []string{"b"}, 100)
		same(t, 3, n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	left := raw(t, a, "MATCH ()-[r]->() RETURN type(r) AS type ORDER BY type", nil)
	same(t, 3, len(left)) // LIKES, and those of the stranger
}

func TestNamesThatTombstoneUsesItselfAreRefused(t *testing.T) {
	for name, change := range map[string]func(*neo4j.Config){
		"a label of its own":          func(c *neo4j.Config) { c.Names.Label = "Command" },
		"a property of its own":       func(c *neo4j.Config) { c.Names.Kind = "generation" },
		"one property for two things": func(c *neo4j.Config) { c.Names.Owner = "kind" },
		"no name":                     func(c *neo4j.Config) { c.Names.ID = "" },
		"a relationship of its own":   func(c *neo4j.Config) { c.Links = links("PENDING") },
		"no scheme":                   func(c *neo4j.Config) { c.URI = "somewhere" },
		"a broken URI":                func(c *neo4j.Config) { c.URI = "bolt://user:secret@[" },
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(containers.Neo4jAddr{URI: "bolt://127.0.0.1:1"})
			change(&c)
			if _, err := neo4j.Open(t.Context(), c); err == nil {
				t.Error("accepted")
			}
		})
	}
}
