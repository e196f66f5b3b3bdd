package system

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/devstack"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// H-09: while the broker is away deletions are accepted and readiness names it; when it is back everything goes on by
// itself, with no restart of ours.
func TestDeletionsAreAcceptedWithoutABrokerAndEndWhenItIsBack(t *testing.T) {
	s, listen := Embedded(t), freePort(t)
	dir := t.TempDir()
	start := func() *devstack.NATSServer {
		n, err := devstack.NATS(t.Context(), devstack.Options{Dir: dir, Listen: listen})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	broker := start()
	s.NATS = broker.URL()
	sys := Start(t, s, app.All)
	for i := range 10 {
		sys.Fill(sys.Create("mesh", fmt.Sprintf("a-%d", i)))
	}
	if err := broker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "readiness names the broker", func() error {
		r, err := sys.Ready(t.Context())
		if err == nil && (r.Ready || !strings.Contains(fmt.Sprint(r), "broker")) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
	var accepted []string
	for i := range 10 {
		d, err := sys.Delete(t.Context(), fmt.Sprintf("a-%d", i), dependency.DeleteRequest{})
		if err != nil {
			t.Fatalf("delete without a broker: %v", err)
		}
		accepted = append(accepted, d.ID)
	}
	if p, err := sys.Pending(t.Context(), ""); err != nil || len(p.Items) != len(accepted) {
		t.Errorf("%d flags wait, %v; want %d", len(p.Items), err, len(accepted))
	}
	sys.measured(map[string]float64{"tombstone_pending_flags": float64(len(accepted))})
	broker = start()
	for _, id := range accepted {
		sys.Await(id)
	}
	if left := s.Snapshot(t); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	sys.measured(map[string]float64{"tombstone_pending_flags": 0, "tombstone_oldest_pending_seconds": 0, "tombstone_oldest_incomplete_seconds": 0})
	sys.Stop()
	if err := broker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// H-11, H-22: what cannot be read, and what names no asset, is with the dead letters once and whole; it erases nothing, and
// what comes after it is done.
func TestUnreadableCommandsAreDeadLettersAndEraseNothing(t *testing.T) {
	s := Embedded(t)
	sys := Start(t, s, app.All)
	sys.Fill(sys.Create("mesh", "bystander"))
	before := s.Snapshot(t)
	names := events.Names{Namespace: s.Namespace}
	good := `{"specversion":"1.0","id":"m","source":"/x","type":"tombstone.erase.v1","time":"2026-03-14T15:09:26Z","data":` +
		`{"deletion":"d","asset":ID,"kind":"mesh","owner":"default","generation":"g","by":"x","reason":"y"}}`
	bad := []string{`{"assetId":`, ``, `{"kind":"mesh"}`, strings.Replace(good, "erase.v1", "erase.v99", 1), `{}`}
	for _, id := range []string{`""`, `null`, `12`, `{"$ne":""}`, `["a"]`} {
		bad = append(bad, strings.Replace(good, "ID", id, 1))
	}
	nc, err := nats.Connect(s.NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range bad {
		if _, err := js.Publish(t.Context(), names.Command(fmt.Sprint("bad-", i), "x"), []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	sys.Fill(sys.Create("mesh", "good"))
	sys.Finish("good")
	dead, err := js.Stream(t.Context(), names.Dead().Name)
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, "dead letters", func() error {
		info, err := dead.Info(t.Context())
		if err == nil && info.State.Msgs != uint64(len(bad)) {
			err = fmt.Errorf("%d, want %d", info.State.Msgs, len(bad))
		}
		return err
	})
	sys.measured(map[string]float64{"tombstone_dead_letters_total": float64(len(bad))})
	left := map[string]bool{}
	for _, data := range bad {
		left[data] = true
	}
	for seq := range len(bad) {
		letter, err := dead.GetMsg(t.Context(), uint64(seq+1))
		if err != nil || letter.Header.Get("Tombstone-Reason") == "" || !left[string(letter.Data)] {
			t.Errorf("dead letter %d: %+v, %v", seq+1, letter, err)
			continue
		}
		delete(left, string(letter.Data))
	}
	if diff := cmp.Diff(before, s.Snapshot(t)); diff != "" {
		t.Errorf("the stores changed:\n%s", diff)
	}
}

// H-56: from the answer to its DELETE on, an asset is in no list of live ones, gives no document, and says that it goes,
// however long the erasing takes.
func TestAnAssetThatGoesIsNeverShownAsWhole(t *testing.T) {
	s := Embedded(t)
	sys := Start(t, s, app.All)
	sys.Create("bare", "base")
	sys.Fill(sys.Create("mesh", "half", "base"))
	if err := sys.Pause(t.Context(), ""); err != nil { // it takes as long as we like
		t.Fatal(err)
	}
	d, err := sys.Delete(t.Context(), "half", dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := sys.Asset(t.Context(), "half")
	if err != nil || a.Status != dependency.Deleting || a.Parts["payload"].Status != dependency.PartErasing {
		t.Errorf("asset: %+v, %v", a, err)
	}
	_, err = sys.GetDocument(t.Context(), "half", "description")
	Refused(t, err, problem.Gone)
	live, err := sys.Assets(t.Context(), dependency.AssetQuery{Status: dependency.Live})
	if err != nil || len(live.Items) != 1 || live.Items[0].ID != "base" {
		t.Errorf("live: %+v, %v", live.Items, err)
	}
	dependants, err := sys.Dependants(t.Context(), "base", "")
	for _, x := range dependants.Items {
		if x.Status != dependency.Deleting {
			err = errors.Join(err, fmt.Errorf("%s is %s", x.ID, x.Status))
		}
	}
	if err != nil {
		t.Errorf("dependants of base: %v", err)
	}
	if err := sys.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	sys.Await(d.ID)
}

// H-18: a stop ends well although a store hangs with work in hand: that is given back, and the next process finishes it.
func TestAStopGivesBackWhatAHangingStoreHoldsUp(t *testing.T) {
	s := Embedded(t)
	u, err := url.Parse(s.DocumentsURI)
	if err != nil {
		t.Fatal(err)
	}
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), "documents", freePort(t), u.Host)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	through := *s
	u.Host = proxy.Listen
	through.DocumentsURI = u.String()
	sys := Start(t, &through, app.All)
	sys.Fill(sys.Create("mesh", "held"))
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "hang", "type": "timeout", "attributes": {"timeout": 0}}`)); err != nil {
		t.Fatal(err)
	}
	d, err := sys.Delete(t.Context(), "held", dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the command is with the broker", func() error {
		p, err := sys.Pending(t.Context(), "")
		if err == nil && len(p.Items) > 0 {
			err = errors.New("it is pending")
		}
		return err
	})
	sys.Stop() // wants it to end well
	next := Start(t, s, app.All)
	next.Await(d.ID)
	if left := s.Snapshot(t); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
