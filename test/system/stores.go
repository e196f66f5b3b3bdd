// Package system runs whole installations in tests, on embedded stores and on real ones in containers.
package system

import (
	"net/url"
	"testing"

	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/test/stores"
)

// Stores are where one test's installation keeps everything.
type Stores = stores.Stores

// Each runs a test on embedded stores, and on containers where Docker answers.
func Each(t *testing.T, f func(t *testing.T, s *Stores)) {
	t.Run("embedded", func(t *testing.T) { f(t, Embedded(t)) })
	t.Run("containers", func(t *testing.T) { f(t, stores.Containers(t)) })
}

// Embedded gives stores of this process: JetStream, FerretDB and versitygw, and SQLite for the graph.
func Embedded(t *testing.T) *Stores {
	t.Helper()
	name := devtest.Name("t")
	b := devtest.Blobs(t).Address()
	docs, err := url.Parse(devtest.Documents(t).URI())
	if err != nil {
		t.Fatal(err)
	}
	docs.Path = "/" + name
	s := &Stores{GraphURI: "sqlite://" + t.TempDir() + "/graph.db", GraphLabel: "Asset", NATS: devtest.NATS(t).URL(), DocumentsURI: docs.String(),
		Endpoint: b.Endpoint, Region: b.Region, Access: b.AccessKey, Secret: b.SecretKey, Namespace: name, Bucket: name}
	s.Open(t)
	return s
}
