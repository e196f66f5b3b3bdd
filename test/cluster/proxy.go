//go:build cluster

package cluster

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Fault is what a store does instead of answering.
type Fault string

// The faults.
const (
	Refused Fault = "refused" // takes no connection, and ends those that are open
	Hanging Fault = "hanging" // takes requests, and never answers
	Slow    Fault = "slow"    // answers late
	Cut     Fault = "cut"     // ends connections in the middle of an answer
)

// Faults are all of them.
var Faults = []Fault{Refused, Hanging, Slow, Cut}

// toxics are the faults as toxiproxy knows them; milliseconds, and bytes from the store.
var toxics = map[Fault]string{
	Hanging: `{"type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`,
	Slow:    `{"type": "latency", "stream": "downstream", "attributes": {"latency": 100, "jitter": 50}}`,
	Cut:     `{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 700}}`,
}

// Proxy stands before a store and can make it fail.
type Proxy struct {
	Address string
	proxy   *toxiproxy.Proxy
}

// NewProxy makes a proxy before the server at address (host:port). It ends with the test.
func NewProxy(t *testing.T, address string) *Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &Proxy{Address: freePort(t)}
	p.proxy = toxiproxy.NewProxy(server, "store", p.Address, address)
	if err := p.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.proxy.Stop)
	return p
}

// Break makes the store fail, until mend is called, or else the test ends.
func (p *Proxy) Break(t *testing.T, f Fault) (mend func()) {
	t.Helper()
	if f == Refused {
		p.proxy.Stop()
	} else if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "fault", ` + toxics[f][1:])); err != nil {
		t.Fatal(err)
	}
	mend = sync.OnceFunc(func() {
		var err error
		if f == Refused {
			err = p.proxy.Start()
		} else {
			err = p.proxy.Toxics.RemoveToxic(context.WithoutCancel(t.Context()), "fault")
		}
		if err != nil {
			t.Errorf("mend: %v", err)
		}
	})
	t.Cleanup(mend)
	return mend
}
