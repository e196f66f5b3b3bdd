package neo4j_test

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/test/containers"
)

// proxy stands between the adapter and the server, and breaks the connection once: when the client has sent what cut
// looks for, and the server has answered it.
type proxy struct {
	server string
	cut    []byte
	done   atomic.Bool
}

// listen gives the proxy's address.
func (p *proxy) listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return l.Addr().String()
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var cutting atomic.Bool
	var answers sync.WaitGroup
	defer answers.Wait()
	answers.Go(func() {
		pass(server, client, func([]byte) bool { return !cutting.Load() })
		_ = client.Close()
	})
	pass(client, server, func(data []byte) bool {
		if bytes.Contains(data, p.cut) && p.done.CompareAndSwap(false, true) {
			cutting.Store(true)
		}
		return true
	})
	_ = server.Close()
}

// pass copies data as long as keep says so.
func pass(from, to net.Conn, keep func([]byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !keep(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// through opens the graph through a proxy, saves a setting, and tells how often that was tried.
func through(t *testing.T, cut []byte) (runs int, kept string, err error) {
	t.Helper()
	a := containers.Neo4j(t)
	direct := open(t, config(t))
	defer func() { _ = direct.Close(t.Context()) }()
	u, err := url.Parse(a.URI)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: u.Host, cut: cut}
	a.URI = "bolt://" + p.listen(t)
	g, err := neo4j.Open(t.Context(), connect(a))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close(t.Context()) }()
	ctx := deadline(t)
	updated := g.Update(ctx, func(tx dependency.Tx) error {
		runs++
		return tx.SaveSetting(ctx, "name", "the value")
	})
	if !p.done.Load() {
		t.Error("the connection was not broken")
	}
	err = direct.View(ctx, func(tx dependency.Tx) (err error) {
		kept, err = tx.Setting(ctx, "name")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs, kept, updated
}

func TestAConnectionLostBeforeTheCommitIsTriedAgain(t *testing.T) {
	runs, kept, err := through(t, []byte("the value"))
	if runs != 2 || kept != "the value" || err != nil {
		t.Errorf("%d runs, %q kept, error %v", runs, kept, err)
	}
}

// H-20.
func TestACommitWhoseAnswerIsLostIsNotTriedAgain(t *testing.T) {
	runs, kept, err := through(t, []byte{0x00, 0x02, 0xb0, 0x12, 0x00, 0x00}) // COMMIT in Bolt
	if runs != 1 || kept != "the value" || !errors.Is(err, problem.Unavailable) {
		t.Errorf("%d runs, %q kept, error %v", runs, kept, err)
	}
}
