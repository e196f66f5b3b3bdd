package cluster

import (
	"fmt"
	"strings"
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
	Slow:    `{"type": "latency", "stream": "downstream", "attributes": {"latency": 300, "jitter": 200}}`,
	Cut:     `{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 700}}`,
}

// Proxy stands before a store and can make it fail.
type Proxy struct {
	Address string
	t       *testing.T
	proxy   *toxiproxy.Proxy
}

// NewProxy makes a proxy before the server at address (host:port). It ends with the test.
func NewProxy(t *testing.T, address string) *Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := &Proxy{Address: freePort(t), t: t}
	p.proxy = toxiproxy.NewProxy(server, "store", p.Address, address)
	if err := p.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.proxy.Stop)
	return p
}

// Break makes the store fail.
func (p *Proxy) Break(f Fault) {
	p.t.Helper()
	if f == Refused {
		p.proxy.Stop()
		return
	}
	if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"name": "fault", %s`, toxics[f][1:]))); err != nil {
		p.t.Fatal(err)
	}
}

// Mend makes it work again.
func (p *Proxy) Mend(f Fault) {
	p.t.Helper()
	var err error
	if f == Refused {
		err = p.proxy.Start()
	} else {
		err = p.proxy.Toxics.RemoveToxic(p.t.Context(), "fault")
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
