package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestDoctor(t *testing.T) {
	var graph error
	serve(t, func(cfg *httpapi.Config) {
		cfg.Auth = apitest.Callers{"secret": {Subject: "a", Owner: "o"}}
		cfg.Checks = []httpapi.Check{{Name: "graph", Ping: func(context.Context) error { return graph }}}
	})
	tombstone(t, "doctor").fails(exitFailed, "access", "unauthenticated")
	tombstone(t, "doctor", "--ready").done() // needs no token
	t.Setenv("TOMBSTONE_TOKEN", "secret")
	if got := tombstone(t, "doctor").done().stdout; !strings.Contains(got, "ok  graph") {
		t.Errorf("got %q", got)
	}
	graph = errors.New("down")
	r := tombstone(t, "doctor").fails(exitFailed, "graph: does not answer")
	if !strings.Contains(r.stdout, "BAD  graph") {
		t.Errorf("got %q", r.stdout)
	}
	tombstone(t, "doctor", "--ready").fails(exitFailed, "graph: does not answer")
}

func TestDoctorTellsWhatKeepsDeletionsFromEnding(t *testing.T) {
	s := serve(t)
	did := deleted(t, s, "a")
	if got := tombstone(t, "doctor").done().stdout; strings.Contains(got, "WARN") {
		t.Errorf("nothing is the matter: %s", got)
	}
	s.Block(did, "access denied", time.Now().Add(time.Hour))
	tombstone(t, "pause", "--reason", "a backup\nis restored").done()
	r := tombstone(t, "doctor").done()
	for _, line := range []string{"WARN  deletions      physical deletion is paused by anonymous since ", ` (a backup\u000ais restored); tombstone resume goes on`, "WARN  deletions      1 blocked, 0 stalled; tombstone stalled lists them with the reason\n"} {
		if !strings.Contains(r.stdout, line) {
			t.Errorf("%q is not in\n%s", line, r.stdout)
		}
	}
}

func TestDoctorLooksAtBuckets(t *testing.T) {
	s := serve(t)
	s.SetStores(events.StoresView{
		Buckets:  []events.BucketView{{Bucket: "assets", Versioning: "enabled"}, {Bucket: "scans", Versioning: "suspended", ObjectLock: true, Replicated: true}},
		Findings: []events.StoreFinding{{Reason: string(asset.ReasonReplicated), Bucket: "scans", Detail: "copies are elsewhere"}},
	})
	r := tombstone(t, "doctor").done()
	for _, line := range []string{"ok    bucket assets      versions enabled\n", "ok    bucket scans       versions suspended, object locks, replicated\n", "WARN  bucket-replicated  copies are elsewhere\n"} {
		if !strings.Contains(r.stdout, line) {
			t.Errorf("%q is not in\n%s", line, r.stdout)
		}
	}
	s.SetStores(events.StoresView{Findings: []events.StoreFinding{{Fatal: true, Reason: string(asset.ReasonVersioningOff), Kind: "scan", Part: "raw", Bucket: "scans", Detail: "enable versioning"}}})
	tombstone(t, "doctor").fails(exitFailed, "versioning-off: enable versioning")
}

func TestDoctorTellsThatNoAssetServiceAnswers(t *testing.T) {
	serve(t, func(cfg *httpapi.Config) { cfg.Stores = nobodyThere{} })
	r := tombstone(t, "doctor").fails(exitFailed, "asset service: does not answer; what is accepted waits until one is up")
	if !strings.Contains(r.stdout, "BAD  asset service  does not answer") {
		t.Errorf("got %q", r.stdout)
	}
}

func TestDoctorTellsAnAssetServiceThatIsTooOldFromOneThatIsDown(t *testing.T) {
	serve(t, func(cfg *httpapi.Config) { cfg.Stores = oldOne{} })
	if r := tombstone(t, "doctor").done(); !strings.Contains(r.stdout, "WARN  asset service  answers, and is too old to be asked") {
		t.Errorf("got %q", r.stdout)
	}
}

// oldOne is an asset service of an older version.
type oldOne struct{}

func (oldOne) Stores(context.Context) (events.StoresView, error) {
	return events.StoresView{}, problem.New(problem.Unavailable, "older").With(dependency.MemberTooOld, true)
}

// nobodyThere is an asset service that is down.
type nobodyThere struct{}

func (nobodyThere) Stores(context.Context) (events.StoresView, error) {
	return events.StoresView{}, problem.New(problem.Unavailable, "the asset service does not answer; try again")
}

func TestPolicyCheck(t *testing.T) {
	dir := t.TempDir()
	check := func(text string, flags ...string) result {
		file := filepath.Join(dir, "policy.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return tombstone(t, append([]string{"policy", "check", file}, flags...)...)
	}
	const good = "kinds:\n  item:\n    parts:\n      note: {document: {collection: notes}}\n"
	if got := check(good).done().stdout; !strings.Contains(got, "policy.yaml: good, hash ") {
		t.Errorf("got %q", got)
	}
	if got := check(good, "--json").done().values(); got[0]["valid"] != true || got[0]["hash"] == "" {
		t.Errorf("--json: %v", got)
	}
	check(good+"resend_aftr: 1m\n").fails(exitFailed, "policy.yaml:5:1: ")
	two := check(good+"resend_aftr: 1m\nrecheck_after: soon\n").fails(exitFailed, "policy.yaml:5:1: ", "(and 1 more)")
	if strings.Count(two.stdout, "policy.yaml:") != 2 {
		t.Errorf("got %q", two.stdout)
	}
	if got := check(good+"resend_aftr: 1m\n", "--json").fails(exitFailed, "policy.yaml:5:1: ").values(); got[0]["valid"] != false {
		t.Errorf("--json: %v", got)
	}
}

func TestServeNamesBadSettings(t *testing.T) {
	tombstone(t, "serve", "all").fails(exitFailed, "TOMBSTONE_POLICY is not set")
	tombstone(t, "serve", "all", "--listen", "0.0.0.0:8080").fails(exitFailed, "TOMBSTONE_AUTH: none is for listeners on loopback only")
	t.Setenv("TOMBSTONE_LOG_LEVEL", "shouting")
	tombstone(t, "serve", "all").fails(exitFailed, "TOMBSTONE_LOG_LEVEL=shouting")
	tombstone(t, "serve", "all", "--log-level", "info", "--policy", "p", "--stream-replicas", "9").fails(exitFailed, "TOMBSTONE_STREAM_REPLICAS=9")
	tombstone(t, "serve", "all", "--config", "/no/such/file").fails(exitFailed, "/no/such/file")
}

func TestVersion(t *testing.T) {
	if got := tombstone(t, "version").done().stdout; !strings.HasPrefix(got, "tombstone ") || !strings.Contains(got, "go1.") {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "version", "--json").done().values(); got[0]["version"] == "" || got[0]["commit"] == "" {
		t.Errorf("--json: %v", got)
	}
}
