package crash

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	driver "github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/jetstream"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/mongo"
	"github.com/tombstone-project/tombstone/services/asset/s3"
	"github.com/tombstone-project/tombstone/test/system"
)

// embeddedStack is the stores of `tombstone dev` with the product's own adapters: JetStream, FerretDB and versitygw. Its names
// are its own, so that many runs share the servers.
type embeddedStack struct {
	t     *testing.T
	at    *system.Stores
	docs  *mongo.Store
	files *s3.Store
	names events.Names
	times times

	conn *nats.Conn // the test's own
	js   driver.JetStream
	bus  *jetstream.Bus
}

// embedded is the setting of a run on embedded stores, in real time. It goes with the test.
func embedded(t *testing.T) setting {
	t.Helper()
	at := system.Embedded(t)
	names := events.Names{Namespace: at.Namespace}
	// Nothing below is a limit on speed but limit, after which a run has lost something: what comes too late comes again.
	clock := times{lookEvery: 400 * time.Millisecond, hold: 4 * time.Second, handOver: 3 * time.Second, claimFor: time.Second, resendAfter: 2 * time.Second,
		ackWait: 3 * time.Second, batch: time.Second, grace: time.Second, patience: 4 * time.Second, askAgain: 100 * time.Millisecond, whole: 4 * time.Second,
		breath: 300 * time.Millisecond, limit: 5 * time.Minute, limitNoR2: 5 * time.Minute}
	s := &embeddedStack{t: t, at: at, names: names, times: clock}
	docs, err := mongo.Open(at.DocumentsURI, mongo.Options{Namespace: at.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	s.docs = docs
	t.Cleanup(func() { _ = docs.Close(context.Background()) })
	if s.files, err = s3.Open(t.Context(), s3.Config{Endpoint: at.Endpoint, Region: at.Region, AccessKey: at.Access, SecretKey: at.Secret}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.files.Close)
	s.openBus()
	return setting{stack: s, times: clock, names: names, free: true, meshes: at.Bucket, others: at.Bucket, beside: ".beside", otherLife: ".again"}
}

// openBus makes the streams, which go with the test.
func (s *embeddedStack) openBus() {
	s.conn, s.bus = s.dial()
	s.t.Cleanup(s.conn.Close)
	var err error
	if s.js, err = driver.New(s.conn); err == nil {
		_, err = s.bus.Ensure(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		for _, stream := range []events.Stream{s.names.Commands(), s.names.Reports(), s.names.Events(), s.names.Dead()} {
			if err := s.js.DeleteStream(context.Background(), stream.Name); err != nil {
				s.t.Errorf("remove %s: %v", stream.Name, err)
			}
		}
	})
}

func (s *embeddedStack) dial() (*nats.Conn, *jetstream.Bus) {
	conn, err := jetstream.Connect(jetstream.Connection{URL: s.at.NATS}, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	bus, err := jetstream.New(conn, s.names, jetstream.Options{AckWait: s.times.ackWait})
	if err != nil {
		s.t.Fatal(err)
	}
	return conn, bus
}

// connect gives a process a connection of its own, which ends with it.
func (s *embeddedStack) connect(p *fault.Process) bus {
	conn, bus := s.dial()
	go func() {
		<-p.Ended()
		conn.Close()
	}()
	return bus
}

func (s *embeddedStack) documents() asset.Documents { return s.docs }
func (s *embeddedStack) blobs() asset.Blobs         { return s.files }
func (s *embeddedStack) ledger() asset.Ledger       { return s.docs.Ledger() }

func (s *embeddedStack) putObject(_, key, content string) {
	_, err := s.at.PutObject(context.Background(), key, content)
	s.must(err)
}
func (s *embeddedStack) hide(_, key string) { s.must(s.at.Hide(context.Background(), key)) }
func (s *embeddedStack) beginUpload(_, key string) {
	s.must(s.at.BeginUpload(context.Background(), key))
}
func (s *embeddedStack) again(m saga.Message) {
	s.must(errors.Join(s.bus.Publish(context.Background(), []saga.Message{m})...))
}

func (s *embeddedStack) stored() map[string]string {
	all, err := s.at.Read(context.Background())
	s.must(err)
	return all
}

// messages reads them one by one: there are few.
func (s *embeddedStack) messages(stream events.Stream) (all []saga.Message) {
	ctx := context.Background()
	at, err := s.js.Stream(ctx, stream.Name)
	if err != nil {
		s.must(err)
		return nil
	}
	state := at.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq && state.Msgs > 0; seq++ {
		raw, err := at.GetMsg(ctx, seq)
		if errors.Is(err, driver.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			s.must(err)
			return all
		}
		all = append(all, saga.Message{Subject: raw.Subject, Data: raw.Data})
	}
	return all
}

// must is for the test's own calls of the stores, which have no faults.
func (s *embeddedStack) must(err error) {
	if err != nil {
		s.t.Errorf("the test's own call: %v", err)
	}
}
