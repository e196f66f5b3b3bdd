package cluster

import (
	"net/url"
	"testing"

	"github.com/tombstone-project/tombstone/test/stores"
)

// Store names one of the four stores.
type Store string

// The stores.
const (
	Graph     Store = "graph"
	Broker    Store = "broker"
	Documents Store = "documents"
	Blobs     Store = "blobs"
)

// uri is where Stores keep the address of a store.
func uri(s *stores.Stores, which Store) *string {
	return map[Store]*string{Graph: &s.GraphURI, Broker: &s.NATS, Documents: &s.DocumentsURI, Blobs: &s.Endpoint}[which]
}

// Address is the host and port of a store.
func Address(t *testing.T, s *stores.Stores, which Store) string {
	t.Helper()
	return parse(t, *uri(s, which)).Host
}

// Through gives the same stores with another address for one of them: that of a proxy.
func Through(t *testing.T, s *stores.Stores, which Store, address string) *stores.Stores {
	t.Helper()
	other := *s
	u := parse(t, *uri(s, which))
	u.Host = address
	*uri(&other, which) = u.String()
	return &other
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
