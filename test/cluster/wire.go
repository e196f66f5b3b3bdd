package cluster

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Wire is a proxy between a process and a store that knows one moment of their conversation when it comes, so that a test
// can kill or freeze the process right there: the program under test has no hook for it.
type Wire struct {
	// Address is where the process connects.
	Address string

	server string
	mu     sync.Mutex
	trap   *Trap    // nil: everything passes
	lost   [][]byte // requests whose answers get lost
}

// Point is a moment in a conversation.
type Point struct {
	// Since, when given, is a text that the process has sent before, on any connection.
	Since string
	// Sent are texts that the process sends on one connection, one after the other. The moment is when it has sent the last,
	// and the store has not got it. Without any, the store speaks first.
	Sent []string
	// Answer moves the moment on: the store has answered with this text, and the process has not got it. A request with an
	// answer had its effect.
	Answer string
}

// AnyAnswer is an answer of whatever text.
const AnyAnswer = "\x00any"

// commit is what the graph's protocol has for the end of a transaction: a message of two bytes in its frame.
const commit = "\x00\x02\xb0\x12\x00\x00"

// NewWire makes a proxy before the server at address (host:port). It ends with the test.
func NewWire(t *testing.T, address string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{Address: l.Addr().String(), server: address}
	open := &connections{}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { w.serve(client, open) })
		}
	})
	t.Cleanup(func() {
		w.Arm(Point{}).Release()
		_ = l.Close()
		open.close()
		serving.Wait()
	})
	return w
}

// Arm waits for the next time that the moment comes, on whatever connection. What another trap waits for, or holds, passes.
func (w *Wire) Arm(p Point) *Trap {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trap != nil {
		w.trap.Release()
	}
	caught := make(chan struct{})
	w.trap = &Trap{Caught: caught, point: p, since: p.Since == "", caught: caught, release: make(chan struct{})}
	return w.trap
}

// Lose ends connections instead of answering requests that hold one of the texts, until mend is called: they had their
// effect, and nobody knows.
func (w *Wire) Lose(requests ...string) (mend func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range requests {
		w.lost = append(w.lost, []byte(r))
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lost = nil
	}
}

// Trap holds a conversation at one moment. Everything on other connections goes on.
type Trap struct {
	// Caught is closed when the moment has come.
	Caught <-chan struct{}

	point  Point
	since  bool // Point.Since was seen; guarded by Wire.mu
	sprung bool // guarded by Wire.mu

	caught, release chan struct{}
	free            sync.Once
	drop            bool // set before release is closed
}

// Release lets the conversation go on.
func (p *Trap) Release() { p.free.Do(func() { close(p.release) }) }

// Drop ends the connection instead: nothing of what was held arrives.
func (p *Trap) Drop() { p.free.Do(func() { p.drop = true; close(p.release) }) }

// hold waits in the moment, and tells whether the conversation may go on.
func (p *Trap) hold() bool {
	close(p.caught)
	<-p.release
	return !p.drop
}

func (w *Wire) serve(client net.Conn, open *connections) {
	defer client.Close()
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer server.Close()
	if !open.add(client, server) {
		return
	}
	v := &conversation{w: w}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		pass(server, client, v.answers)
		_ = client.Close()
	}()
	pass(client, server, v.sends)
	_ = server.Close()
	<-answered
}

// pass copies what comes, as long as look says so.
func pass(from io.Reader, to io.Writer, look func(data []byte) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !look(buffer[:n]) {
			return
		}
		if _, failed := to.Write(buffer[:n]); errors.Join(err, failed) != nil {
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

// conversation is one connection. Its members are guarded by Wire.mu.
type conversation struct {
	w        *Wire
	trap     *Trap  // the one that seen and asked are about
	seen     int    // how many texts of the point were sent here
	asked    bool   // all: the answer comes next
	unknown  bool   // the answer to what was sent here gets lost
	sent     []byte // the end of what was sent, for a text that comes in two pieces
	answered []byte
}

// keep is how much of the end is kept.
const keep = 256

// sends looks at what the process sends; false ends the connection.
func (v *conversation) sends(data []byte) bool {
	v.w.mu.Lock()
	text := append(v.sent, data...)
	for _, l := range v.w.lost {
		v.unknown = v.unknown || bytes.Contains(data, l)
	}
	t := v.follow()
	if t != nil {
		if t.since {
			text = v.advance(text)
		}
		t.since = t.since || bytes.Contains(text, []byte(t.point.Since))
	}
	v.sent = bytes.Clone(text[max(0, len(text)-keep):])
	moment := t != nil && v.asked && t.point.Answer == "" && !t.sprung
	if moment {
		t.sprung = true
	}
	v.w.mu.Unlock()
	return !moment || t.hold()
}

// follow gives the trap that waits; a new one begins anew.
func (v *conversation) follow() *Trap {
	if v.trap != v.w.trap {
		v.trap, v.seen, v.sent, v.answered = v.w.trap, 0, nil, nil
		v.asked = len(v.trap.point.Sent) == 0 && v.trap.point.Answer != ""
	}
	return v.trap
}

// advance notes the texts of the point that come next, and gives what follows them.
func (v *conversation) advance(text []byte) []byte {
	for !v.asked && v.seen < len(v.trap.point.Sent) {
		next := []byte(v.trap.point.Sent[v.seen])
		i := bytes.Index(text, next)
		if i < 0 {
			break
		}
		text = text[i+len(next):]
		v.seen++
		v.asked = v.seen == len(v.trap.point.Sent)
	}
	return text
}

// answers looks at what the store answers; false ends the connection.
func (v *conversation) answers(data []byte) bool {
	v.w.mu.Lock()
	if v.unknown {
		v.w.mu.Unlock()
		return false
	}
	moment := false
	t := v.follow()
	if t != nil && v.asked && !t.sprung && t.point.Answer != "" {
		text := append(v.answered, data...)
		moment = t.point.Answer == AnyAnswer || bytes.Contains(text, []byte(t.point.Answer))
		v.answered = bytes.Clone(text[max(0, len(text)-keep):])
		t.sprung = moment
	}
	v.w.mu.Unlock()
	return !moment || t.hold()
}
