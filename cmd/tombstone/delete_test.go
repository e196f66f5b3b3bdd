package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestDelete(t *testing.T) {
	t.Run("one line on each side for each id", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a", "b", "free")
		put(t, s, "user", dependency.Put{Kind: apitest.Kind, Links: &[]dependency.LinkTo{{Type: apitest.LinkType, To: "a"}}})
		if r := tombstone(t, "delete", "a"); r.code != exitFailed || !strings.Contains(r.err, "has-dependants") || !strings.Contains(r.err, "user") ||
			!strings.Contains(r.err, "or say --with-dependants; dependants:") || strings.Contains(r.err, "with_dependants") {
			t.Errorf("exit %d, stderr %q", r.code, r.err)
		}
		r := tombstone(t, "delete", "free", "nobody", "b", "--reason", "why not")
		if r.code != exitFailed || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "nobody: not-found") {
			t.Errorf("exit %d, stderr %q", r.code, r.err)
		}
		if lines := strings.Split(strings.TrimSpace(r.stdout), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "free: deleting, deletion ") {
			t.Errorf("stdout %q", r.stdout)
		}
		tombstone(t, "delete", "a", "--with-dependants").done()
	})
	t.Run("several are asked for together", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a", "b")
		r := tombstone(t, "delete", "b", "a", "--reason", "both", "--with-dependants", "--json").done()
		want := []dependency.SetRequest{{IDs: []string{"b", "a"}, Reason: "both", WithDependants: true}}
		if diff := cmp.Diff(want, s.Sets()); diff != "" {
			t.Error(diff)
		}
		if got := r.values(); len(got) != 1 || got[0]["batch"] == nil || len(got[0]["results"].([]any)) != 2 {
			t.Errorf("stdout %q", r.stdout)
		}
	})
	t.Run("one part goes, and the asset stays", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a")
		if r := tombstone(t, "delete", "a", "--part", apitest.Part, "--wait", "5s").done(); !strings.HasPrefix(r.stdout, "a: part description deleted, deletion ") {
			t.Errorf("stdout %q", r.stdout)
		}
		tombstone(t, "status", "a").done()
		tombstone(t, "delete", "a", "--part", "nothing").fails(exitFailed, "a: unknown-part")
		tombstone(t, "delete", "a", "--part", apitest.Part, "--with-dependants").fails(exitUsage, "--part")
	})
	t.Run("flags reach the service", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a")
		tombstone(t, "delete", "a", "--reason", "no more", "--if-plan", "hash", "--with-dependants", "--wait", "5s").done()
		want := []dependency.DeleteRequest{{WithDependants: true, Reason: "no more", IfPlan: "hash", Wait: 5 * time.Second}}
		if diff := cmp.Diff(want, s.Requests()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("--wait ends with the deletion, of several ids too", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a", "b", "c")
		var looks atomic.Int32
		s.Before = func(_ context.Context, call string) error {
			// The first look finds it deleting, the second fails, then it is done.
			if call == "Deletion" && looks.Add(1) == 2 {
				s.FinishAll()
				return problem.New(problem.Unavailable, "for a moment")
			}
			return nil
		}
		r := tombstone(t, "delete", "a", "b", "c", "--wait", "50s", "--json").done()
		got := r.values()
		if len(got) != 3 || got[0]["status"] != "deleted" || got[2]["root"] != "c" {
			t.Errorf("stdout %q", r.stdout)
		}
	})
	t.Run("a wait that is over before the deletion is done fails", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a", "b")
		r := tombstone(t, "delete", "a", "b", "--wait", "30ms")
		if r.code != exitFailed || strings.Count(r.err, "is still deleting") != 2 || strings.Count(r.stdout, "deleting") != 2 {
			t.Errorf("exit %d, stderr %q, stdout %q", r.code, r.err, r.stdout)
		}
	})
	t.Run("--dry-run asks for the plan and deletes nothing", func(t *testing.T) {
		s := serve(t)
		create(t, s, "a")
		put(t, s, "user", dependency.Put{Kind: apitest.Kind, Links: &[]dependency.LinkTo{{Type: apitest.LinkType, To: "a"}}})
		if r := tombstone(t, "delete", "a", "--dry-run").done(); !strings.Contains(r.stdout, "a: would be refused: 1 asset in the way") {
			t.Errorf("stdout %q", r.stdout)
		}
		if r := tombstone(t, "delete", "a", "--dry-run", "--with-dependants").done(); !strings.Contains(r.stdout, "would delete 2 assets") {
			t.Errorf("stdout %q", r.stdout)
		}
		tombstone(t, "delete", "nobody", "--dry-run").fails(exitFailed, "nobody: not-found")
		if n := len(s.Requests()); n != 0 {
			t.Errorf("%d deletions were asked for", n)
		}
	})
}

func TestPrintPlan(t *testing.T) {
	plan := `{"hash":"h","bytes":12,"assets":[{"id":"a","why":"requested"},{"id":"b\u001b","why":"PART_OF a"}],"objects":[{"bucket":"b","key":"k","version":"v","bytes":12},{"bucket":"b","key":"k","version":"m","marker":true},{"bucket":"b","key":"k","version":"u","upload":true}],` +
		`"documents":[{"collection":"notes","key":"n"}],"links":[{"from":"x","type":"REFERENCES","to":"a"}],"kept":["h"],"blockers":[{"type":"DEPENDS_ON","asset":"c"}],"blockers_total":1}`
	server := http.NewServeMux()
	server.HandleFunc("POST /v1/assets/a/plan", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, plan)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: server}
	go func() { _ = s.Serve(l) }()
	defer func() { _ = s.Close() }()
	t.Setenv("TOMBSTONE_URL", "http://"+l.Addr().String())
	want := `a: would delete 2 assets with 1 document and 3 object versions, 12 bytes; plan h
a: would be refused: 1 asset in the way
  blocked by  c        DEPENDS_ON
  asset       a        requested
  asset       b\u001b  PART_OF a
  detached    x        REFERENCES a
  kept        h        on hold
  document    notes/n
  object      b/k  version v, 12 bytes
  object      b/k  delete marker m
  object      b/k  unfinished upload u
`
	if got := tombstone(t, "delete", "a", "--dry-run").done().stdout; got != want {
		t.Errorf("got\n%s", got)
	}
	if got := tombstone(t, "delete", "a", "--dry-run", "--json").done().stdout; strings.TrimSpace(got) != plan {
		t.Errorf("--json: %s", got)
	}
}
