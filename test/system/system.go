package system

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// patience is how long a test waits for what must come. It is no limit on speed.
const patience = 90 * time.Second

// kinds of the tests' policy: mesh has all sorts of parts, item a document only, bare nothing, slow a grace period.
const policyText = `
graph: {label: %[2]s}
links: {DEPENDS_ON: {on_target_delete: restrict}}
resend_after: 2s
kinds:
  mesh:
    parts:
      description: {document: {collection: descriptions, key: "{id}/{generation}"}}
      payload: {blobs: {bucket: %[1]s, prefix: "payload/{id}/{generation}/"}}
      thumbnail: {blobs: {bucket: %[1]s, key: "thumbs/{id}.png"}}
  item:
    parts:
      note: {document: {collection: notes}}
  bare: {}
  slow:
    grace: 2s
    parts:
      note: {document: {collection: slownotes, key: "{id}/{generation}"}}
`

// System is one running installation.
type System struct {
	*client.Client
	Stores *Stores
	URL    string
	Log    *Log
	t      *testing.T
	stop   context.CancelFunc
	ended  chan error
}

// Start runs the services of the roles in this process, all on one listener when the role is All, and waits until they
// are ready. They stop with the test.
func Start(t *testing.T, s *Stores, role app.Role) *System {
	t.Helper()
	return StartWith(t, s, role, policyText)
}

// StartWith is Start with another policy, a format for the bucket and the graph's label.
func StartWith(t *testing.T, s *Stores, role app.Role, policyText string) *System {
	t.Helper()
	sys := launch(t, s, role, policyText)
	ready(t, sys)
	return sys
}

// ready waits until every store answers.
func ready(t *testing.T, sys *System) {
	t.Helper()
	Eventually(t, "ready", func() error {
		select {
		case err := <-sys.ended:
			sys.stop = nil
			t.Fatalf("the services ended at their start: %v", err)
		default:
		}
		r, err := sys.Ready(t.Context())
		if err == nil && !r.Ready {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// launch is Start without the waiting.
func launch(t *testing.T, s *Stores, role app.Role, policyText string) *System {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, policyText, s.Bucket, s.GraphLabel), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", s.Access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.Secret)
	listen := freePort(t)
	flags := map[string]string{
		"TOMBSTONE_LISTEN": listen, "TOMBSTONE_POLICY": file, "TOMBSTONE_NAMESPACE": s.Namespace,
		"TOMBSTONE_GRAPH_URI": s.GraphURI, "TOMBSTONE_GRAPH_USER": s.GraphUser, "TOMBSTONE_GRAPH_PASSWORD": s.GraphPassword,
		"TOMBSTONE_NATS_URL": s.Broker(t, string(role)), "TOMBSTONE_MESSAGE_KEY": s.MessageKey, "TOMBSTONE_DOCUMENTS_URI": s.DocumentsURI, "TOMBSTONE_BLOBS_ENDPOINT": s.Endpoint, "TOMBSTONE_BLOBS_REGION": s.Region}
	maps.Copy(flags, s.Settings)
	cfg, err := config.Load(config.Sources{LookupEnv: os.LookupEnv, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	sys := &System{Stores: s, URL: "http://" + listen, Log: &Log{}, t: t, ended: make(chan error, 1)}
	if sys.Client, err = client.New(sys.URL, ""); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	sys.stop = stop
	log := slog.New(slog.NewTextHandler(sys.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	go func() { sys.ended <- app.Serve(ctx, cfg, role, app.Info{Version: "test"}, log) }()
	t.Cleanup(func() {
		sys.Stop()
		if t.Failed() {
			t.Logf("the last lines of the log:\n%s", sys.Log.Tail(60))
		}
	})
	return sys
}

// Stop ends the installation and wants it to end well; again it does nothing.
func (s *System) Stop() {
	s.t.Helper()
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	if err := <-s.ended; err != nil {
		s.t.Errorf("the services ended with: %v", err)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Eventually polls until check gives nil.
func Eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline, tick := time.After(patience), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

// Create makes an asset; Fill gives a mesh a document, a payload of two objects, one of them with an older version, and a
// thumbnail.
func (s *System) Create(kind, id string, needs ...string) dependency.Asset {
	s.t.Helper()
	links := []dependency.LinkTo{}
	for _, n := range needs {
		links = append(links, dependency.LinkTo{Type: "DEPENDS_ON", To: n})
	}
	a, _, err := s.PutAsset(s.t.Context(), id, dependency.Put{Kind: kind, Links: &links})
	if err != nil {
		s.t.Fatalf("create %q: %v", id, err)
	}
	return a
}

// Fill fills a mesh.
func (s *System) Fill(a dependency.Asset) dependency.Asset {
	s.t.Helper()
	if err := s.PutDocument(s.t.Context(), a.ID, "description", map[string]any{"text": "of " + a.ID + a.Generation}, ""); err != nil {
		s.t.Fatalf("write the document of %q: %v", a.ID, err)
	}
	for _, o := range [][2]string{{"one.bin", "first"}, {"one.bin", "second"}, {"sub/two.bin", "two"}} {
		PutObject(s.t, s.Stores, "payload/"+a.ID+"/"+a.Generation+"/"+o[0], o[1]+a.Generation)
	}
	PutObject(s.t, s.Stores, "thumbs/"+a.ID+".png", "picture of "+a.Generation)
	return a
}

// PutObject writes an object as any other program would.
func PutObject(t *testing.T, s *Stores, key, data string) {
	t.Helper()
	if _, err := s.PutObject(t.Context(), key, data); err != nil {
		t.Fatal(err)
	}
}

// Finish deletes an asset and waits for the end.
func (s *System) Finish(id string) dependency.Deletion {
	s.t.Helper()
	d, err := s.Delete(s.t.Context(), id, dependency.DeleteRequest{Reason: "test"})
	if err != nil {
		s.t.Fatalf("delete %q: %v", id, err)
	}
	return s.Await(d.ID)
}

// Await waits until a deletion is deleted.
func (s *System) Await(id string) (d dependency.Deletion) {
	s.t.Helper()
	Eventually(s.t, "deletion "+id, func() (err error) {
		d, err = s.Deletion(s.t.Context(), id, "")
		if err == nil && d.Status != dependency.Deleted {
			err = fmt.Errorf("is %s: %+v", d.Status, d)
		}
		return err
	})
	return d
}

// Refused wants the refusal of that name.
func Refused(t *testing.T, err error, name problem.Name) {
	t.Helper()
	if p := problem.As(err); p == nil || p.Name != name {
		t.Fatalf("want the refusal %s, got %v", name, err)
	}
}

// Log keeps what the services wrote.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail is the last lines.
func (l *Log) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(l.text.Bytes()), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}
