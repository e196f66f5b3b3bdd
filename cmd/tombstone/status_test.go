package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestStatus(t *testing.T) {
	s := serve(t)
	links := []dependency.LinkTo{{Type: apitest.LinkType, To: "base"}}
	create(t, s, "base")
	put(t, s, "a mesh/1", dependency.Put{Kind: apitest.Kind, Links: &links, Attributes: map[string]any{"x": 1.5}})
	shown := tombstone(t, "status", "a mesh/1").done().stdout
	for _, want := range []string{"a mesh/1", "live", "DEPENDS_ON  base"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
	res, err := http.Get(os.Getenv("TOMBSTONE_URL") + "/v1/assets/a%20mesh%2F1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var want map[string]any
	if err := json.NewDecoder(res.Body).Decode(&want); err != nil {
		t.Fatal(err)
	}
	if got := tombstone(t, "status", "a mesh/1", "--json").done().values(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("--json: %s", cmp.Diff([]map[string]any{want}, got))
	}
	tombstone(t, "status", "nobody").fails(exitFailed, "nobody", "not-found")
	if got := tombstone(t, "status", "nobody", "--json").fails(exitFailed, "nobody").values(); got[0]["type"] != "/problems/not-found" {
		t.Errorf("--json of a refusal: %v", got)
	}
}

func TestImport(t *testing.T) {
	serve(t)
	good := `{"id":"a","kind":"mesh"}` + "\n" + `{"id":"b/1","kind":"mesh"}` + "\n"
	file := filepath.Join(t.TempDir(), "assets.ndjson")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tombstone(t, "import", file).done().stdout; got != "2 created, 0 changed, 0 failed\n" {
		t.Errorf("got %q", got)
	}
	r := tombstoneWith(t, good+"{oops\n", "import", "-").fails(exitFailed, "1 line failed", "line 3")
	if !strings.HasPrefix(r.stdout, "0 created, 2 changed, 1 failed\n") || !strings.Contains(r.stdout, "line 3") {
		t.Errorf("got %q", r.stdout)
	}
	if got := tombstoneWith(t, good, "import", "-", "--json").done().values(); got[0]["changed"] != 2.0 {
		t.Errorf("--json: %v", got)
	}
	tombstone(t, "import", "/no/such/file").fails(exitFailed, "/no/such/file")
}

func TestPendingAndReplay(t *testing.T) {
	s := serve(t)
	if got := tombstone(t, "pending").done().stdout; got != "nothing is pending\n" {
		t.Errorf("got %q", got)
	}
	create(t, s, "a\u202eb")
	did, _ := tombstone(t, "delete", "a\u202eb", "--json").done().values()[0]["id"].(string)
	if got := tombstone(t, "pending").done().stdout; !strings.Contains(got, `a\u202eb`) || strings.Contains(got, "\u202e") {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "pending", "--json").done().values(); len(got) != 1 || got[0]["items"] == nil {
		t.Errorf("--json: %v", got)
	}
	if got := tombstone(t, "replay", "--all", "--older-than", "1m").done().stdout; got != "1 deletion driven\n" {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "replay", did, "--json").done().values(); got[0]["driven"] != 1.0 {
		t.Errorf("--json: %v", got)
	}
	want := []dependency.Drive{{All: true, OlderThan: time.Minute}, {Deletions: []string{did}}}
	if diff := cmp.Diff(want, s.Drives()); diff != "" {
		t.Error(diff)
	}
}
