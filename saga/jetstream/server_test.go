package jetstream_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	driver "github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broker is a real server in this process, which can be stopped, started again on the same port, and robbed of its disk.
type broker struct {
	t      *testing.T
	dir    string
	port   int
	server *server.Server
}

func startBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	b.start()
	u, err := url.Parse(b.server.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	if b.port, err = strconv.Atoi(u.Port()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: b.port, JetStream: true, StoreDir: b.dir, NoSigs: true, NoLog: true})
	if err != nil {
		b.t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(patience) {
		b.t.Fatal("the broker does not start")
	}
	b.server = s
}

func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

func (b *broker) wipe() {
	b.t.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, "jetstream")); err != nil {
		b.t.Fatal(err)
	}
}

const patience = 60 * time.Second

// connection opens one with our own options.
func (b *broker) connection() *nats.Conn {
	b.t.Helper()
	nc, err := jetstream.Connect(jetstream.Connection{URL: "nats://127.0.0.1:" + strconv.Itoa(b.port)}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	closed := make(chan struct{})
	nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
	b.t.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

// bus opens a bus on a connection of its own.
func (b *broker) bus(names events.Names, o jetstream.Options) *jetstream.Bus {
	b.t.Helper()
	bus, err := jetstream.New(b.connection(), names, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return bus
}

// admin is the driver's own view, for looking and meddling.
func (b *broker) admin() driver.JetStream {
	b.t.Helper()
	js, err := driver.New(b.connection())
	if err != nil {
		b.t.Fatal(err)
	}
	return js
}

// eventually polls until check gives nil.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %v", patience, last)
		}
	}
}

func published(ctx context.Context, b *jetstream.Bus, messages ...saga.Message) error {
	return errors.Join(b.Publish(ctx, messages)...)
}

// held reads what a stream holds, with the senders' headers.
func held(ctx context.Context, js driver.JetStream, name string) (messages []saga.Message, err error) {
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	state := stream.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq && state.Msgs > 0; seq++ {
		raw, err := stream.GetMsg(ctx, seq)
		if errors.Is(err, driver.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m := saga.Message{Subject: raw.Subject, Data: raw.Data}
		for name := range raw.Header {
			if strings.HasPrefix(name, "Nats-") {
				continue
			}
			if m.Header == nil {
				m.Header = map[string]string{}
			}
			m.Header[name] = raw.Header.Get(name)
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// called notes the streams that OnRecreated names.
type called struct {
	mu      sync.Mutex
	streams []string
}

func (c *called) note(stream string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = append(c.streams, stream)
}

func (c *called) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	streams := c.streams
	c.streams = nil
	return streams
}
