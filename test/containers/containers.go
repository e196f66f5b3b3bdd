// Package containers starts the real servers that tests run against, through testcontainers-go. Servers are published
// and dialled on 127.0.0.1 only, on ports that stay the same over a stop and a start.
//
// Neo4j, NATS, S3 and Mongo give a server that all tests of the process share: started at its first use, removed at the
// end by Main, which a package that uses them must call from its TestMain. A shared server is not emptied between tests:
// take names from Name (a bucket, a namespace, a database), or empty what has no names (the one database of Neo4j
// Community). OwnNeo4j, OwnNATS, OwnS3 and OwnMongo start a server for one test, with a handle to stop, kill and pause it;
// OwnNATSNodes starts three that are a cluster. NewStack starts one of each for a program that is no test.
//
// Where Docker does not answer, or an image cannot be had, the test is skipped; with CI=true it fails.
//
// The library's own reaper is off: a test process that is killed leaves its containers behind, with the label
// org.testcontainers=true.
package containers

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go/log"
)

// startTimeout is how long a server may take until it is ready, pulling its image not counted.
const startTimeout = 2 * time.Minute

// Main runs the tests, removes the shared servers and exits. It is the body of TestMain.
func Main(m *testing.M) {
	process.hasMain = true
	code := m.Run()
	process.removeAll()
	os.Exit(code)
}

// Name makes a name that no other test has: lower case, starting with a letter, 22 characters. It is good for a bucket,
// a namespace and a database.
func Name(t testing.TB) string {
	t.Helper()
	b := make([]byte, 10)
	if _, err := rand.Read(b); err != nil {
		t.Fatalf("random name: %v", err)
	}
	return "t-" + hex.EncodeToString(b)
}

// sharing is the servers that the tests of this process share, by kind.
type sharing struct {
	mu      sync.Mutex
	hasMain bool
	started map[string]started
}

type started struct {
	server *Server
	err    error
}

// process is the one sharing of this test process: it must outlive single tests, which nothing else does.
var process = sharing{started: map[string]started{}}

// get gives the shared server of a kind, and starts it if it is the first to ask. A start that failed is not tried again.
func (s *sharing) get(t testing.TB, k kind) *Server {
	t.Helper()
	if !s.hasMain {
		t.Fatal("shared containers are removed by containers.Main: call it from this package's TestMain")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.started[k.name]
	if !ok {
		st.server, st.err = launch(context.Background(), k)
		s.started[k.name] = st
	}
	check(t, k, st.err)
	return st.server
}

// Shared gives the shared server at an address (host:port), so that a test can stop it for a while. It must run again when
// the test ends.
func Shared(t testing.TB, address string) *Server {
	t.Helper()
	process.mu.Lock()
	defer process.mu.Unlock()
	for _, st := range process.started {
		if st.server != nil && st.server.address == address {
			return st.server
		}
	}
	t.Fatalf("no shared server is at %s", address)
	return nil
}

// removeAll removes what was started, in no order: the servers do not know each other.
func (s *sharing) removeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, st := range s.started {
		if st.server == nil {
			continue
		}
		if err := st.server.remove(); err != nil {
			fmt.Fprintf(os.Stderr, "remove the %s container: %v\n", name, err)
		}
	}
}

// own starts a server for one test, which removes it at its end.
func own(t testing.TB, k kind) *Server {
	t.Helper()
	s, err := launch(context.Background(), k)
	if s != nil {
		t.Cleanup(func() {
			if err := s.remove(); err != nil {
				t.Errorf("remove the %s container: %v", k.name, err)
			}
		})
	}
	check(t, k, err)
	return s
}

// launch makes sure that the engine and the image are there, and starts a server.
func launch(ctx context.Context, k kind) (*Server, error) {
	prepare()
	if err := available(ctx, k.imageName()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return start(ctx, k)
}

// prepare sets what the library needs where the user has not: no reaper (its image is one more to pull), and the
// address to dial, which the library guesses wrong inside a container. And it keeps the library quiet: what goes wrong
// is in its errors.
func prepare() {
	log.SetDefault(log.NewNoopLogger())
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true",
		"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
	} {
		// Setenv fails only for a bad name.
		_ = os.Setenv(name, cmp.Or(os.Getenv(name), value))
	}
}
