package devstack_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tombstone-project/tombstone/internal/devstack"
)

func documents(t *testing.T, dir string) *devstack.DocumentServer {
	t.Helper()
	s, err := devstack.Documents(t.Context(), devstack.Options{Dir: dir})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return s
}

func end(t *testing.T, s *devstack.DocumentServer) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// queryPlan asks the server how it would look a document up by its _id.
func queryPlan(t *testing.T, s *devstack.DocumentServer, collection string) string {
	t.Helper()
	db, done := database(t, devstack.Addresses{Documents: s.URI()})
	defer done()
	// SQLite notices an index that another connection made when it next reads, not when it explains.
	if n, err := db.Collection(collection).CountDocuments(t.Context(), bson.M{"_id": "x"}); n != 0 || err != nil {
		t.Fatalf("look up: %d, %v", n, err)
	}
	explain := bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: collection}, {Key: "filter", Value: bson.D{{Key: "_id", Value: "x"}}}}}}
	var answer bson.M
	if err := db.RunCommand(t.Context(), explain).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(answer["queryPlanner"])
}

func TestLookUpsByIDUseAnIndexOnceMade(t *testing.T) {
	s := documents(t, t.TempDir())
	defer end(t, s)
	names := []string{"descriptions", "Two words", "two words", "with-dash.dot"}
	if err := s.Index(t.Context(), names[:1]); err != nil {
		t.Fatal(err)
	}
	if err := s.Index(t.Context(), names); err != nil {
		t.Fatalf("again, with more: %v", err)
	}
	for _, name := range names {
		if plan := queryPlan(t, s, name); !strings.Contains(plan, "USING INDEX") {
			t.Errorf("%s: plan %s", name, plan)
		}
	}
}

func TestAnIndexedCollectionWorksOn(t *testing.T) {
	s := documents(t, t.TempDir())
	defer end(t, s)
	db, done := database(t, devstack.Addresses{Documents: s.URI()})
	defer done()
	c := db.Collection("descriptions")
	if _, err := c.InsertOne(t.Context(), bson.M{"_id": "before"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Index(t.Context(), []string{"descriptions"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(t.Context(), bson.M{"_id": "after"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(t.Context(), bson.M{"_id": "before"}); err == nil {
		t.Error("a second document with the same _id was taken")
	}
	for _, id := range []string{"before", "after"} {
		if r, err := c.DeleteOne(t.Context(), bson.M{"_id": id}); err != nil || r.DeletedCount != 1 {
			t.Errorf("delete %s: %+v, %v", id, r, err)
		}
	}
}

// half makes what a kill leaves in the file of the database when it comes between two steps.
func half(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "documents", "tombstone.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFolderThatAKillLeftHalfMadeIsTakenUp(t *testing.T) {
	const (
		registry = `CREATE TABLE _ferretdb_collections (name TEXT NOT NULL UNIQUE, table_name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL) STRICT`
		table    = `CREATE TABLE "descriptions_1ea3c8d1" (_ferretdb_sjson TEXT NOT NULL) STRICT`
		entry    = `INSERT INTO _ferretdb_collections VALUES ('descriptions', 'descriptions_1ea3c8d1', '{}')`
		index    = `CREATE UNIQUE INDEX "descriptions_1ea3c8d1__id_" ON "descriptions_1ea3c8d1" (_ferretdb_sjson->'_id')`
	)
	for name, done := range map[string][]string{
		"file without a registry":           nil,
		"table without an entry":            {registry, table},
		"entry without settings":            {registry, table, entry},
		"entry without settings, but index": {registry, table, entry, index},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "documents"), 0o700); err != nil {
				t.Fatal(err)
			}
			half(t, dir, append([]string{"PRAGMA journal_mode = wal"}, done...)...)
			s := documents(t, dir)
			defer end(t, s)
			db, closeDB := database(t, devstack.Addresses{Documents: s.URI()})
			defer closeDB()
			c := db.Collection("descriptions")
			if _, err := c.InsertOne(t.Context(), bson.M{"_id": "x"}); err != nil {
				t.Fatalf("first document: %v", err)
			}
			if _, err := c.InsertOne(t.Context(), bson.M{"_id": "x"}); err == nil {
				t.Error("a second document with the same _id was taken")
			}
		})
	}
}

func TestRepairKeepsWholeCollections(t *testing.T) {
	dir := t.TempDir()
	s := documents(t, dir)
	write := func(s *devstack.DocumentServer, id string) {
		db, done := database(t, devstack.Addresses{Documents: s.URI()})
		defer done()
		if _, err := db.Collection("descriptions").InsertOne(t.Context(), bson.M{"_id": id}); err != nil {
			t.Fatal(err)
		}
	}
	write(s, "x")
	end(t, s)
	half(t, dir, `CREATE TABLE "left_over" (_ferretdb_sjson TEXT NOT NULL) STRICT`)
	s = documents(t, dir)
	defer end(t, s)
	write(s, "y")
	db, done := database(t, devstack.Addresses{Documents: s.URI()})
	defer done()
	if n, err := db.Collection("descriptions").CountDocuments(t.Context(), bson.M{}); n != 2 || err != nil {
		t.Errorf("documents: %d, %v, want 2", n, err)
	}
}
