//go:build cluster

package cluster

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Catch is a proxy before a store that holds one request: the first bytes towards the store that contain the pattern. All
// that has passed before it, and everything on other connections, goes on.
type Catch struct {
	// Address is where clients connect.
	Address string
	// Caught is closed when the request is held.
	Caught <-chan struct{}

	caught, release chan struct{}
	once, free      sync.Once
	pattern         []byte
}

// NewCatch makes a proxy before the server at address (host:port). It ends with the test.
func NewCatch(t *testing.T, address, pattern string) *Catch {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Catch{Address: l.Addr().String(), caught: make(chan struct{}), release: make(chan struct{}), pattern: []byte(pattern)}
	c.Caught = c.caught
	open := &connections{}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { c.serve(client, address, open) })
		}
	})
	t.Cleanup(func() {
		c.Release()
		_ = l.Close()
		open.close()
		serving.Wait()
	})
	return c
}

// Release lets the request go on.
func (c *Catch) Release() { c.free.Do(func() { close(c.release) }) }

func (c *Catch) serve(client net.Conn, address string, open *connections) {
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	if !open.add(client, server) {
		return
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	c.forward(client, server)
	_ = server.Close()
	<-answered
}

// forward copies what a client sends, and waits before what contains the pattern.
func (c *Catch) forward(client, server net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if bytes.Contains(buffer[:n], c.pattern) {
			c.once.Do(func() {
				close(c.caught)
				<-c.release
			})
		}
		if _, failed := server.Write(buffer[:n]); errors.Join(err, failed) != nil {
			return
		}
	}
}

// connections are closed all together.
type connections struct {
	mu     sync.Mutex
	closed bool
	list   []net.Conn
}

func (c *connections) add(list ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.list = append(c.list, list...)
	}
	return !c.closed
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.list {
		_ = conn.Close()
	}
}
