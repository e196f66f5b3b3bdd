package cluster

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/tombstone-project/tombstone/test/containers"
	"github.com/tombstone-project/tombstone/test/stores"
)

// Fault is what a store does instead of answering.
type Fault string

// The faults.
const (
	Refused Fault = "refused" // takes no connection, and ends those that are open
	Hanging Fault = "hanging" // takes requests, and never answers
	Slow    Fault = "slow"    // answers late
	Cut     Fault = "cut"     // ends connections in the middle of an answer
	Unknown Fault = "unknown" // does what it is asked, and ends connections instead of saying so
	Stopped Fault = "stopped" // the server is stopped, and started again
)

// Faults are all of them.
var Faults = []Fault{Refused, Hanging, Slow, Cut, Unknown, Stopped}

// toxics are the faults that toxiproxy knows; milliseconds, and bytes from the store.
var toxics = map[Fault]string{
	Hanging: `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`,
	Slow:    `{"type": "latency", "stream": "downstream", "attributes": {"latency": 100, "jitter": 50}}`,
	Cut:     `{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 700}}`,
}

// changes are what requests hold that change something in a store.
var changes = map[Store][]string{
	Graph:     {commit},
	Broker:    {".command.erase.", ".report.", ".event.", "+ACK"},
	Documents: {"insert\x00", "update\x00", "delete\x00"},
	Blobs:     {"?delete", "PUT /"},
}

// Proxy stands before a store and can make it fail.
type Proxy struct {
	Address string

	store  Store
	server *containers.Server
	proxy  *toxiproxy.Proxy
	wire   *Wire // before the proxy
}

// NewProxy makes a proxy before one of the shared stores. It ends with the test.
func NewProxy(t *testing.T, s *stores.Stores, store Store) *Proxy {
	t.Helper()
	address, listen := Address(t, s, store), freePort(t)
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &Proxy{store: store, server: containers.Shared(t, address), proxy: toxiproxy.NewProxy(server, "store", listen, address)}
	if err := p.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.proxy.Stop)
	p.wire = NewWire(t, listen)
	p.Address = p.wire.Address
	return p
}

// Break makes the store fail, until mend is called, or else the test ends.
func (p *Proxy) Break(t *testing.T, f Fault) (mend func()) {
	t.Helper()
	switch f {
	case Refused:
		p.proxy.Stop()
		mend = func() { fail(t, p.proxy.Start()) }
	case Unknown:
		mend = p.wire.Lose(changes[p.store]...)
	case Stopped:
		p.server.Stop(t)
		mend = func() { p.server.Start(t) }
	default:
		_, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "fault", ` + toxics[f][1:]))
		fail(t, err)
		mend = func() { fail(t, p.proxy.Toxics.RemoveToxic(context.WithoutCancel(t.Context()), "fault")) }
	}
	mend = sync.OnceFunc(mend)
	t.Cleanup(mend)
	return mend
}

func fail(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("proxy: %v", err)
	}
}
