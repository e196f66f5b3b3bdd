package system

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/containers"
)

// The two services work with the rights that deploy/nats.conf gives them, and nobody has more than these.
func TestTheBrokersUsersMayDoTheirWorkAndNothingElse(t *testing.T) {
	s := Embedded(t)
	s.NATS = lockedBroker(t)
	s.Namespace, s.Users = events.DefaultNamespace, true
	deps := Start(t, s, app.Dependency)
	assets := Start(t, s, app.Asset)
	a := deps.Create("mesh", "gone")
	if err := assets.PutDocument(t.Context(), "gone", "description", map[string]any{"text": "x"}, ""); err != nil {
		t.Fatal(err)
	}
	PutObject(t, s, "payload/gone/"+a.Generation+"/one.bin", "one")
	if _, err := deps.Plan(t.Context(), "gone", dependency.PlanRequest{}); err != nil { // asks the asset service
		t.Errorf("plan: %v", err)
	}
	deps.Finish("gone")
	if left := s.Snapshot(t); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	for _, sys := range []*System{deps, assets} {
		if strings.Contains(strings.ToLower(sys.Log.String()), "permissions violation") {
			t.Errorf("the log tells of a right that is missing:\n%s", sys.Log.Tail(30))
		}
	}
	for user, may := range rights {
		t.Run(user, func(t *testing.T) { checkRights(t, s, user, may) })
	}
	t.Run("the feed is read, to its end", func(t *testing.T) { readFeed(t, s) })
	t.Run("dead letters are read", func(t *testing.T) { readDead(t, s) })
	t.Run("who names no user is refused", func(t *testing.T) {
		if _, err := nats.Connect(s.NATS); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("got %v", err)
		}
	})
}

// lockedBroker starts a server in this process with deploy/nats.conf as it is, but for where it listens and keeps its streams.
func lockedBroker(t *testing.T) string {
	t.Helper()
	for name, value := range containers.BrokerEnvironment() {
		t.Setenv(name, value)
	}
	o, err := natsserver.ProcessConfigFile(containers.DeployedNATS())
	if err != nil {
		t.Fatal(err)
	}
	o.Host, o.Port, o.HTTPPort, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", natsserver.RANDOM_PORT, 0, t.TempDir(), true, true
	b, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go b.Start()
	t.Cleanup(func() { b.Shutdown(); b.WaitForShutdown() })
	if !b.ReadyForConnections(patience) {
		t.Fatal("the broker does not start")
	}
	return b.ClientURL()
}

// subjects are what somebody could want to publish to, and to hear.
var subjects = struct{ publish, subscribe []string }{
	publish: []string{
		"tombstone.command.erase.d.h", "tombstone.event.deletion.requested.h", "tombstone.report.asset.erased.h", "tombstone.dead.command.erase.d.h",
		"tombstone.dead.report.asset.erased.h", "tombstone.rpc.gate.current", "tombstone.rpc.stores.look", "tombstone.inbox.dependency.x", "tombstone.inbox.asset.x",
		"$JS.API.STREAM.INFO.TOMBSTONE_COMMANDS", "$JS.API.STREAM.INFO.TOMBSTONE_EVENTS",
		"$JS.API.STREAM.CREATE.TOMBSTONE_COMMANDS", "$JS.API.STREAM.UPDATE.TOMBSTONE_REPORTS", "$JS.API.STREAM.CREATE.OTHER",
		"$JS.API.STREAM.PURGE.TOMBSTONE_COMMANDS", "$JS.API.STREAM.PURGE.TOMBSTONE_EVENTS", "$JS.API.STREAM.PURGE.TOMBSTONE_DEAD",
		"$JS.API.STREAM.DELETE.TOMBSTONE_COMMANDS", "$JS.API.STREAM.DELETE.TOMBSTONE_EVENTS", "$JS.API.STREAM.MSG.GET.TOMBSTONE_COMMANDS",
		"$JS.API.STREAM.MSG.GET.TOMBSTONE_REPORTS", "$JS.API.STREAM.MSG.GET.TOMBSTONE_DEAD", "$JS.API.STREAM.MSG.DELETE.TOMBSTONE_EVENTS",
		"$JS.API.DIRECT.GET.TOMBSTONE_COMMANDS", "$JS.API.STREAM.SNAPSHOT.TOMBSTONE_EVENTS", "$JS.API.STREAM.RESTORE.OTHER",
		"$JS.API.CONSUMER.MSG.NEXT.TOMBSTONE_COMMANDS.tombstone-erase", "$JS.API.CONSUMER.MSG.NEXT.TOMBSTONE_REPORTS.tombstone-report",
		"$JS.API.CONSUMER.MSG.NEXT.TOMBSTONE_EVENTS.mine", "$JS.API.CONSUMER.CREATE.TOMBSTONE_COMMANDS.tombstone-erase",
		"$JS.API.CONSUMER.CREATE.TOMBSTONE_COMMANDS.mine", "$JS.API.CONSUMER.CREATE.TOMBSTONE_EVENTS.mine", "$JS.API.CONSUMER.DELETE.TOMBSTONE_COMMANDS.tombstone-erase",
		"$JS.ACK.TOMBSTONE_COMMANDS.tombstone-erase.1.1.1.1.0", "$JS.ACK.TOMBSTONE_REPORTS.tombstone-report.1.1.1.1.0",
	},
	subscribe: []string{
		"tombstone.command.>", "tombstone.report.>", "tombstone.event.>", "tombstone.dead.>", "tombstone.rpc.gate.current", "tombstone.rpc.stores.look",
		"tombstone.inbox.dependency.>", "tombstone.inbox.asset.>", "tombstone.>", "_INBOX.>", "$JS.>", ">",
	},
}

// rights are what each user may of that.
var rights = map[string][]string{
	"dependency": {
		"publish tombstone.command.erase.d.h", "publish tombstone.event.deletion.requested.h", "publish tombstone.dead.report.asset.erased.h",
		"publish tombstone.rpc.stores.look", "publish $JS.API.STREAM.INFO.TOMBSTONE_COMMANDS", "publish $JS.API.STREAM.INFO.TOMBSTONE_EVENTS",
		"publish $JS.API.STREAM.CREATE.TOMBSTONE_COMMANDS", "publish $JS.API.STREAM.UPDATE.TOMBSTONE_REPORTS", "publish $JS.API.STREAM.PURGE.TOMBSTONE_COMMANDS",
		"publish $JS.API.CONSUMER.MSG.NEXT.TOMBSTONE_REPORTS.tombstone-report", "publish $JS.API.CONSUMER.CREATE.TOMBSTONE_COMMANDS.tombstone-erase",
		"publish $JS.API.CONSUMER.DELETE.TOMBSTONE_COMMANDS.tombstone-erase", "publish $JS.ACK.TOMBSTONE_REPORTS.tombstone-report.1.1.1.1.0",
		"subscribe tombstone.rpc.gate.current", "subscribe tombstone.inbox.dependency.>",
	},
	"asset": {
		"publish tombstone.report.asset.erased.h", "publish tombstone.dead.command.erase.d.h", "publish tombstone.rpc.gate.current",
		"publish $JS.API.STREAM.INFO.TOMBSTONE_COMMANDS", "publish $JS.API.CONSUMER.MSG.NEXT.TOMBSTONE_COMMANDS.tombstone-erase",
		"publish $JS.ACK.TOMBSTONE_COMMANDS.tombstone-erase.1.1.1.1.0", "subscribe tombstone.rpc.stores.look", "subscribe tombstone.inbox.asset.>",
	},
	"reader": {
		"publish $JS.API.STREAM.INFO.TOMBSTONE_EVENTS", "publish $JS.API.CONSUMER.MSG.NEXT.TOMBSTONE_EVENTS.mine",
		"publish $JS.API.CONSUMER.CREATE.TOMBSTONE_EVENTS.mine", "subscribe tombstone.event.>", "subscribe _INBOX.>",
	},
	"operator": {
		"publish $JS.API.STREAM.INFO.TOMBSTONE_COMMANDS", "publish $JS.API.STREAM.INFO.TOMBSTONE_EVENTS", "publish $JS.API.STREAM.PURGE.TOMBSTONE_DEAD",
		"publish $JS.API.STREAM.MSG.GET.TOMBSTONE_DEAD", "subscribe _INBOX.>",
	},
}

// as connects as a user.
func as(t *testing.T, s *Stores, user string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(containers.BrokerUser(t, s.NATS, user), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func checkRights(t *testing.T, s *Stores, user string, may []string) {
	allowed := map[string]bool{}
	for _, right := range may {
		allowed[right] = true
	}
	try := func(right string, do func(nc *nats.Conn) error) {
		nc := as(t, s, user)
		defer nc.Close()
		if err := do(nc); err != nil {
			t.Fatalf("%s: %v", right, err)
		}
		if err := nc.FlushTimeout(patience); err != nil {
			t.Fatalf("%s: %v", right, err)
		}
		err := nc.LastError() // a refusal has come before the answer to the flush
		if denied := errors.Is(err, nats.ErrPermissionViolation); denied == allowed[right] {
			t.Errorf("%s: may %t, got %v", right, allowed[right], err)
		}
	}
	for _, subject := range subjects.publish {
		// A body that nothing takes for a message or a request, so that what is allowed does nothing.
		try("publish "+subject, func(nc *nats.Conn) error { return nc.Publish(subject, []byte("?")) })
	}
	for _, subject := range subjects.subscribe {
		try("subscribe "+subject, func(nc *nats.Conn) error { _, err := nc.SubscribeSync(subject); return err })
	}
}

func readFeed(t *testing.T, s *Stores) {
	nc := as(t, s, "reader")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	c, err := js.CreateOrUpdateConsumer(t.Context(), "TOMBSTONE_EVENTS", jetstream.ConsumerConfig{Durable: "mine", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := c.Next(jetstream.FetchMaxWait(patience))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.DoubleAck(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e, _, err := events.DecodeEvent(m.Data()); err == nil && e.Type == events.TypeDeletionCompleted {
			return
		}
	}
}

func readDead(t *testing.T, s *Stores) {
	assets := as(t, s, "asset")
	if err := errors.Join(assets.Publish("tombstone.report.asset.erased.h", []byte("unreadable")), assets.Flush()); err != nil {
		t.Fatal(err)
	}
	nc := as(t, s, "operator")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := js.Stream(t.Context(), "TOMBSTONE_DEAD")
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, "a dead letter", func() error {
		info, err := dead.Info(t.Context())
		if err != nil {
			return err
		}
		for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
			letter, err := dead.GetMsg(t.Context(), seq)
			if err != nil || letter.Header.Get("Tombstone-Reason") != "" {
				return err
			}
		}
		return fmt.Errorf("none of %d messages has a reason", info.State.Msgs)
	})
	if err := dead.Purge(t.Context()); err != nil {
		t.Error(err)
	}
}
