package mongo_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/devstack"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/mongo"
)

func TestAnAddressMustNameADatabase(t *testing.T) {
	for _, uri := range []string{"mongodb://127.0.0.1:1", "mongodb://127.0.0.1:1/", "http://127.0.0.1/db", ""} {
		if _, err := mongo.Open(uri, mongo.Options{Namespace: "n"}); err == nil {
			t.Errorf("%q: no error", uri)
		}
	}
}

// A store that is away at the start fails calls soon, and answers once it is there, without being opened again.
func TestAStoreThatComesBackIsUsedAgain(t *testing.T) {
	dir := t.TempDir()
	address := freeAddress(t)
	s, err := mongo.Open("mongodb://"+address+"/db", mongo.Options{Namespace: "n", SelectionTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatalf("open while the server is away: %v", err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	ref := asset.DocumentRef{Collection: "c", Key: "k", IDType: policy.IDString, Generation: "g", Fenced: true}
	failsWhileAway(t, s, ref)

	server, err := devstack.Documents(t.Context(), devstack.Options{Dir: dir, Listen: address})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop(context.Background()) }()
	eventually(t, func() error { return s.Ping(t.Context()) })
	if err := s.Put(t.Context(), ref, map[string]any{"a": "b"}); err != nil {
		t.Error(err)
	}
	if exists, errs := s.Exists(t.Context(), []asset.DocumentRef{ref}); errs[0] != nil || !exists[0] {
		t.Errorf("exists: %v, %v", exists, errs)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func failsWhileAway(t *testing.T, s *mongo.Store, ref asset.DocumentRef) {
	t.Helper()
	errs := s.Delete(t.Context(), []asset.DocumentRef{ref})
	_, more := s.Ledger().Open(t.Context(), []asset.Head{{}})
	for _, err := range append(append(errs, more...), s.Ping(t.Context()), s.Put(t.Context(), ref, nil)) {
		if err == nil || asset.AsBlocked(err) != nil {
			t.Errorf("while away: %v, want a fault that may pass", err)
		}
	}
}

// A server that takes the connection and never answers fails calls too.
func TestAServerThatHangsGivesAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	s, err := mongo.Open("mongodb://"+l.Addr().String()+"/db", mongo.Options{Namespace: "n", SelectionTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	if err := s.Ping(t.Context()); err == nil {
		t.Error("ping: no error")
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// eventually tries until it succeeds.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
