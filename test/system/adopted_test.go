package system

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/stores"
)

// adoptedPolicy is that of docs/adopting.md, with ids of other types: other names in the graph, relationships that point the
// other way, documents found by a field, and keys that the nodes hold.
const adoptedPolicy = `
graph: {label: %[2]s, id: uuid, kind: type, owner: team}
links:
  DERIVED_FROM: {on_target_delete: restrict}
  HAS_FILE:     {on_target_delete: cascade, reversed: true}
  MENTIONS:     {on_target_delete: detach}
resend_after: 2s
kinds:
  dataset:
    parts:
      card:   {document: {collection: cards, id: dataset_id}}
      series: {document: {collection: series, key: "{attributes.series}", id_type: int}}
  file:
    parts:
      meta:    {document: {collection: meta, key: "{attributes.meta}", id_type: objectid}}
      content: {blobs: {bucket: %[1]s, key: "{attributes.path|path}"}}
`

// adopted are the assets that were there before: those that a deletion of ds-1 takes along, and one that stays.
func adopted() map[string]dependency.Put {
	put := func(kind string, attributes map[string]any, links ...dependency.LinkTo) dependency.Put {
		return dependency.Put{Kind: kind, Owner: "acme", Attributes: attributes, Links: &links}
	}
	return map[string]dependency.Put{
		"ds-1":  put("dataset", map[string]any{"title": "first", "series": 7.0}),
		"f-1":   put("file", map[string]any{"path": "2024/a b/one.bin", "meta": "65f000000000000000000001"}, dependency.LinkTo{Type: "HAS_FILE", To: "ds-1"}),
		"f-2":   put("file", map[string]any{"path": "2024/a b/one.bin.bak", "meta": "65f000000000000000000002"}, dependency.LinkTo{Type: "HAS_FILE", To: "ds-1"}),
		"ds-2":  put("dataset", map[string]any{"series": 8.0}, dependency.LinkTo{Type: "DERIVED_FROM", To: "ds-1"}),
		"ds-10": put("dataset", map[string]any{"series": 70.0}, dependency.LinkTo{Type: "MENTIONS", To: "ds-1"}),
	}
}

// fillByOthers puts documents and objects where those assets have them, and lookalikes beside.
func fillByOthers(t *testing.T, s *Stores) {
	t.Helper()
	oid := func(hex string) bson.ObjectID {
		id, err := bson.ObjectIDFromHex(hex)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for collection, documents := range map[string][]bson.M{
		"cards":  {{"_id": "c1", "dataset_id": "ds-1"}, {"_id": "c2", "dataset_id": "ds-2"}, {"_id": "c10", "dataset_id": "ds-10"}, {"_id": "ds-1", "dataset_id": "other"}},
		"series": {{"_id": int64(7)}, {"_id": int64(8)}, {"_id": int64(70)}, {"_id": int64(-7)}},
		"meta": {{"_id": oid("65f000000000000000000001")}, {"_id": oid("65f000000000000000000002")}, {"_id": oid("65f000000000000000000003")},
			{"_id": "another program's"}},
	} {
		for _, d := range documents {
			if err := s.PutDocument(t.Context(), collection, d); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, key := range []string{"2024/a b/one.bin", "2024/a b/one.bin", "2024/a b/one.bin.bak", "2024/a b/one.bin2", "2024/a%20b/one.bin", "2024/a b/One.bin"} {
		PutObject(t, s, key, "content of "+key)
	}
}

// afterwards is what must be left: all but the documents and objects of ds-1, what is part of it, and what is derived from it.
func afterwards(before stores.Snapshot) stores.Snapshot {
	left := maps.Clone(before)
	maps.DeleteFunc(left, func(place, _ string) bool {
		for _, gone := range []string{"cards c1", "cards c2", `series {"$numberLong":"7"}`, `series {"$numberLong":"8"}`,
			`meta {"$oid":"65f000000000000000000001"}`, `meta {"$oid":"65f000000000000000000002"}`} {
			if place == "document "+gone {
				return true
			}
		}
		return strings.HasPrefix(place, "object 2024/a b/one.bin ") || strings.HasPrefix(place, "object 2024/a b/one.bin.bak ")
	})
	return left
}

// adopt makes the nodes and relationships as another program has made them long ago.
func adopt(t *testing.T, s *Stores) {
	t.Helper()
	var nodes, files, others []map[string]any
	for id, a := range adopted() {
		nodes = append(nodes, map[string]any{"uuid": id, "type": a.Kind, "team": a.Owner, "more": a.Attributes})
		for _, l := range *a.Links {
			row := map[string]any{"from": id, "to": l.To, "type": l.Type}
			if l.Type == "HAS_FILE" {
				files = append(files, row)
			} else {
				others = append(others, row)
			}
		}
	}
	label := "`" + s.GraphLabel + "`"
	s.Cypher(t, "UNWIND $rows AS row CREATE (n:"+label+" {uuid: row.uuid, type: row.type, team: row.team}) SET n += row.more", map[string]any{"rows": nodes})
	s.Cypher(t, "UNWIND $rows AS row MATCH (f:"+label+" {uuid: row.from}) MATCH (d:"+label+" {uuid: row.to}) CREATE (d)-[:HAS_FILE]->(f)", map[string]any{"rows": files})
	for _, l := range others {
		s.Cypher(t, "MATCH (a:"+label+" {uuid: $from}) MATCH (b:"+label+" {uuid: $to}) CREATE (a)-[:"+l["type"].(string)+"]->(b)", l)
	}
	s.Cypher(t, "MATCH (d:"+label+" {uuid: 'ds-1'}) MATCH (o:"+label+" {uuid: 'ds-10'}) CREATE (p:Person {uuid: 'ds-1'})-[:OWNS]->(d), (p)-[:OWNS]->(o)", nil)
}

// What others have put into stores is deleted as docs/adopting.md says: everything of the asset, whatever names and types its
// places have, and nothing else. On SQLite, whose graph is Tombstone's own, the assets are created; their places are others'.
func TestWhatWasThereBeforeIsDeletedWholeAndNothingElse(t *testing.T) {
	t.Setenv("TOMBSTONE_START_PAUSED", "true")
	Each(t, func(t *testing.T, s *Stores) {
		onNeo4j := !strings.HasPrefix(s.GraphURI, "sqlite:")
		fillByOthers(t, s)
		if onNeo4j {
			adopt(t, s)
		}
		sys := StartWith(t, s, app.All, adoptedPolicy)
		for _, id := range []string{"ds-1", "f-1", "f-2", "ds-2", "ds-10"} {
			if put := adopted()[id]; !onNeo4j {
				if _, _, err := sys.PutAsset(t.Context(), id, put); err != nil {
					t.Fatalf("create %s: %v", id, err)
				}
			}
		}
		before := s.Snapshot(t)
		sys.lookAtAdopted(onNeo4j)
		plan := sys.planAdopted()
		_, err := sys.Delete(t.Context(), "ds-1", dependency.DeleteRequest{})
		Refused(t, err, problem.HasDependants)
		if onNeo4j {
			sys.wantUntouched("ds-1", "f-1", "f-2", "ds-2", "ds-10")
		}

		d, err := sys.Delete(t.Context(), "ds-1", dependency.DeleteRequest{WithDependants: true, IfPlan: plan.Hash, Reason: "first one"})
		if err != nil {
			t.Fatal(err)
		}
		if why, err := sys.Explain(t.Context(), d.ID); err != nil || !why.Paused {
			t.Errorf("while it is paused: %+v, %v", why, err)
		}
		if diff := cmp.Diff(before, s.Snapshot(t)); diff != "" {
			t.Errorf("changed while it was paused:\n%s", diff)
		}
		if err := sys.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		d = sys.Await(d.ID)
		if diff := cmp.Diff(afterwards(before), s.Snapshot(t)); diff != "" || d.Assets.Deleted != 4 {
			t.Errorf("%d assets went; what is left (-want +got):\n%s", d.Assets.Deleted, diff)
		}
		sys.wantFound("afterwards")
		if onNeo4j {
			sys.wantUntouched("ds-10")
			rows := s.Cypher(t, "MATCH (n)-[r]->() RETURN type(r) AS type, count(*) AS n", nil)
			if len(rows) != 1 || rows[0].Values[0] != "OWNS" || rows[0].Values[1] != int64(2) {
				t.Errorf("relationships that are left: %v", rows)
			}
		}
	})
}

// lookAtAdopted holds reading to what docs/adopting.md says of it.
func (s *System) lookAtAdopted(onNeo4j bool) {
	s.t.Helper()
	a, err := s.Asset(s.t.Context(), "f-1")
	if err != nil || a.Status != dependency.Live || a.Kind != "file" || a.Owner != "acme" || a.Attributes["path"] != "2024/a b/one.bin" || (a.Generation == "") != onNeo4j {
		s.t.Errorf("f-1: %+v, %v", a, err)
	}
	seen, err := s.Client.Stores(s.t.Context())
	if err != nil || len(seen.Findings) != 0 || len(seen.Buckets) != 1 || seen.Buckets[0].Versioning != "enabled" {
		s.t.Errorf("the stores: %+v, %v", seen, err)
	}
}

// planAdopted plans with all that depends on ds-1, and holds the plan to name everything that goes.
func (s *System) planAdopted() dependency.Plan {
	s.t.Helper()
	p, err := s.Plan(s.t.Context(), "ds-1", dependency.PlanRequest{WithDependants: true})
	if err != nil {
		s.t.Fatal(err)
	}
	var assets, documents, objects []string
	for _, a := range p.Assets {
		assets = append(assets, a.ID)
	}
	for _, d := range p.Documents {
		documents = append(documents, d.Collection+" "+d.Key)
	}
	for _, o := range p.Objects {
		objects = append(objects, o.Key)
	}
	for _, list := range [][]string{assets, documents, objects} {
		slices.Sort(list)
	}
	want := [][]string{{"ds-1", "ds-2", "f-1", "f-2"},
		{"cards ds-1", "cards ds-2", "meta 65f000000000000000000001", "meta 65f000000000000000000002", "series 7", "series 8"},
		{"2024/a b/one.bin", "2024/a b/one.bin", "2024/a b/one.bin.bak"}}
	if diff := cmp.Diff(want, [][]string{assets, documents, objects}); diff != "" || len(p.Blockers) != 0 {
		s.t.Errorf("the plan, with blockers %v (-want +got):\n%s", p.Blockers, diff)
	}
	if diff := cmp.Diff([]dependency.PlannedLink{{From: "ds-10", Type: "MENTIONS", To: "ds-1"}}, p.Links); diff != "" {
		s.t.Errorf("links of the plan (-want +got):\n%s", diff)
	}
	return p
}

// wantUntouched wants that nothing was written to nodes from before.
func (s *System) wantUntouched(ids ...string) {
	s.t.Helper()
	rows := s.Stores.Cypher(s.t, "MATCH (n) WHERE n.uuid IN $ids AND (n.generation IS NOT NULL OR n.status IS NOT NULL) RETURN n.uuid", map[string]any{"ids": ids})
	for _, r := range rows {
		s.t.Errorf("%v was written to", r.Values[0])
	}
}
