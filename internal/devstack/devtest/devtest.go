// Package devtest lends the embedded servers to tests. All tests of a process share one server of each sort, which runs
// while at least one test uses it, in a folder that goes away with it; so each test takes names of its own (Name).
package devtest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tombstone-project/tombstone/internal/devstack"
)

// shared is a server that runs while somebody uses it.
type shared[S server] struct {
	start func(context.Context, devstack.Options) (S, error)

	mu    sync.Mutex
	users int
	run   S
	dir   string
}

type server interface{ Stop(context.Context) error }

var (
	nats      = &shared[*devstack.NATSServer]{start: devstack.NATS}
	documents = &shared[*devstack.DocumentServer]{start: devstack.Documents}
	blobs     = &shared[*devstack.BlobServer]{start: devstack.Blobs}
)

// NATS lends the JetStream server; it runs at least until the test's end.
func NATS(t testing.TB) *devstack.NATSServer { t.Helper(); return nats.borrow(t) }

// Documents lends the MongoDB wire server. Clients must be closed before the test ends.
func Documents(t testing.TB) *devstack.DocumentServer { t.Helper(); return documents.borrow(t) }

// Blobs lends the S3 server. While it runs the process's working directory is not the package's folder.
func Blobs(t testing.TB) *devstack.BlobServer { t.Helper(); return blobs.borrow(t) }

// Name makes a name that no other test has: lower-case letters and digits, good for buckets, collections and namespaces.
func Name(prefix string) string { return prefix + strings.ToLower(rand.Text()[:10]) }

func (s *shared[S]) borrow(t testing.TB) S {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		s.open(t)
	}
	s.users++
	t.Cleanup(func() { s.giveBack(t) })
	return s.run
}

func (s *shared[S]) open(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "devtest")
	if err != nil {
		t.Fatalf("make data folder: %v", err)
	}
	s.dir = dir
	if s.run, err = s.start(t.Context(), devstack.Options{Dir: dir}); err != nil {
		_ = os.RemoveAll(dir)
		t.Fatalf("start: %v", err)
	}
}

func (s *shared[S]) giveBack(t testing.TB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	if err := s.run.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Errorf("remove data folder: %v", err)
	}
}
