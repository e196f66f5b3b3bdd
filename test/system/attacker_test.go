package system

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// attackedKey is what the services share, and the attacker does not have.
var attackedKey = events.Keys{strings.Repeat("shared-key-", 4)}

// attacker may do everything on the broker: read and keep what the services send, send anything, and answer in their place.
type attacker struct {
	t     *testing.T
	nc    *nats.Conn
	js    jetstream.JetStream
	names events.Names
	heard chan *nats.Msg // all that the services send to each other
}

func newAttacker(t *testing.T, s *Stores) *attacker {
	t.Helper()
	nc, err := nats.Connect(s.NATS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	a := &attacker{t: t, nc: nc, js: js, names: events.Names{Namespace: s.Namespace}, heard: make(chan *nats.Msg, 10_000)}
	if _, err := nc.ChanSubscribe(s.Namespace+".>", a.heard); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return a
}

// forged is a message of a type with any content, as only its author's service could have sent it, without a signature.
func (a *attacker) forged(subject, eventType string, data any) *nats.Msg {
	a.t.Helper()
	body, err := events.Encode(events.Envelope{ID: "forged", Source: "/tombstone/asset", Type: eventType, Time: time.Now().UTC()}, data)
	if err != nil {
		a.t.Fatal(err)
	}
	return &nats.Msg{Subject: subject, Data: body}
}

// erased is the report that completes an asset.
func (a *attacker) erased(d dependency.Deletion, asset dependency.Asset) *nats.Msg {
	report := events.AssetErased{Deletion: d.ID, Asset: asset.ID, Generation: asset.Generation}
	for _, part := range []string{"description", "payload", "thumbnail"} {
		report.Parts = append(report.Parts, events.PartEvidence{Part: part, Generation: asset.Generation, SeenAbsentAt: time.Now().UTC()})
	}
	return a.forged(a.names.Report(events.TypeAssetErased, asset.ID), events.TypeAssetErased, report)
}

// command is the command that erases an asset.
func (a *attacker) command(deletion string, asset dependency.Asset) *nats.Msg {
	return a.forged(a.names.Command(deletion, asset.ID), events.TypeErase, events.Erase{Deletion: deletion, Asset: asset.ID, Kind: asset.Kind,
		Owner: asset.Owner, Generation: asset.Generation, By: "attacker"})
}

// send publishes messages and waits until the services are through with them. A command that waits keeps another on its
// subject out, and that is refused by the broker.
func (a *attacker) send(messages ...*nats.Msg) {
	a.t.Helper()
	for _, m := range messages {
		if _, err := a.js.PublishMsg(a.t.Context(), m); err != nil && !strings.Contains(err.Error(), "maximum messages per subject") {
			a.t.Fatalf("publish on %s: %v", m.Subject, err)
		}
	}
	Eventually(a.t, "the queues are empty", func() error {
		for _, s := range []events.Stream{a.names.Commands(), a.names.Reports()} {
			stream, err := a.js.Stream(a.t.Context(), s.Name)
			if err != nil {
				return err
			}
			if n := stream.CachedInfo().State.Msgs; n > 0 {
				return fmt.Errorf("%s holds %d", s.Name, n)
			}
		}
		return nil
	})
}

// recorded gives what the services have sent until now below a subject.
func (a *attacker) recorded(word string) (list []*nats.Msg) {
	for {
		select {
		case m := <-a.heard:
			if strings.HasPrefix(m.Subject, a.names.Namespace+"."+word) {
				list = append(list, &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
			}
		default:
			return list
		}
	}
}

// mangled are variants of a message that nobody has sent like that.
func mangled(m *nats.Msg) (list []*nats.Msg) {
	variant := func(change func(m *nats.Msg)) {
		c := &nats.Msg{Subject: m.Subject, Header: nats.Header{}, Data: append([]byte(nil), m.Data...)}
		for name, values := range m.Header {
			c.Header[name] = append([]string(nil), values...)
		}
		change(c)
		list = append(list, c)
	}
	variant(func(c *nats.Msg) { c.Data = nil })
	variant(func(c *nats.Msg) { c.Data = c.Data[:len(c.Data)/2] })
	variant(func(c *nats.Msg) { c.Data[len(c.Data)/3] ^= 1 })
	variant(func(c *nats.Msg) { c.Data = append(c.Data, ' ') })
	variant(func(c *nats.Msg) { c.Data = []byte(strings.ReplaceAll(string(c.Data), "gone", "stays")) })
	variant(func(c *nats.Msg) { delete(c.Header, events.HeaderSignature) })
	variant(func(c *nats.Msg) { c.Header.Set(events.HeaderSignature, "AAAA") })
	variant(func(c *nats.Msg) { c.Subject += "x" })
	return list
}

// Whoever has the broker has neither the data nor the truth: what is forged, replayed or malformed erases nothing that is not
// being deleted, and completes nothing that was not seen to be absent. Here the broker has no accounts at all, and the
// services share a key.
func TestAnAttackerOnTheBrokerErasesNothingAndCompletesNothing(t *testing.T) {
	s := Embedded(t)
	s.MessageKey = attackedKey[0]
	deps, assets := Start(t, s, app.Dependency), Start(t, s, app.Asset)
	a := newAttacker(t, s)
	stays := fillSplit(t, s, deps, assets, "stays")
	gone := fillSplit(t, s, deps, assets, "gone")
	before := s.Snapshot(t)

	t.Run("forged commands", func(t *testing.T) {
		wild := stays
		wild.Owner, wild.Kind = "someone", "item"
		other := stays
		other.ID, other.Generation = "../stays", "../../"+stays.Generation
		a.send(a.command("d-1", stays), a.command("d-2", wild), a.command("d-3", other))
		unchanged(t, s, before, "after forged commands")
	})
	var d dependency.Deletion
	t.Run("forged reports, while nothing may be erased", func(t *testing.T) {
		if err := deps.Pause(t.Context(), "attacked"); err != nil {
			t.Fatal(err)
		}
		var err error
		if d, err = deps.Delete(t.Context(), "gone", dependency.DeleteRequest{}); err != nil {
			t.Fatal(err)
		}
		report := a.erased(d, gone)
		a.send(append(mangled(report), report, a.erased(dependency.Deletion{ID: "other"}, gone), a.erased(d, stays))...)
		if got, err := deps.Deletion(t.Context(), d.ID, ""); err != nil || got.Status != dependency.Deleting || got.Assets.Deleted != 0 {
			t.Errorf("after forged reports the deletion is %s, %v", got.Status, err)
		}
		unchanged(t, s, before, "after forged reports")
	})
	deps.Stop() // the attacker's are the only answers
	t.Run("forged answers", func(t *testing.T) { a.answersInPlaceOfTheGraph(t, s, assets, stays, before) })
	deps = Start(t, s, app.Dependency)
	t.Run("the deletion goes on all the same, and takes what it should", func(t *testing.T) {
		a.recorded("")
		if err := deps.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		deps.Await(d.ID)
		unchanged(t, s, before.Without("gone"), "after the deletion")
	})
	t.Run("replays of what was genuine, over a new generation of the id", func(t *testing.T) {
		Eventually(t, "a report was heard", func() error {
			if len(a.heard) < 4 {
				return fmt.Errorf("%d messages", len(a.heard))
			}
			return nil
		})
		genuine := append(a.recorded("command"), a.recorded("report")...)
		a.replays(t, s, deps, assets, genuine, d)
	})
}

// answersInPlaceOfTheGraph says yes to every question of the asset service, in place of the dependency service.
func (a *attacker) answersInPlaceOfTheGraph(t *testing.T, s *Stores, assets *System, stays dependency.Asset, before map[string]string) {
	yes, err := json.Marshal(map[string]any{"answers": []events.Answer{{Erase: true, Owner: stays.Owner, Kind: stays.Kind}},
		"owner": stays.Owner, "kind": stays.Kind, "generation": stays.Generation})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1000)
	sub, err := a.nc.Subscribe(a.names.RPC("gate.>"), func(m *nats.Msg) {
		for _, header := range []nats.Header{nil, m.Header} { // not signed, and with the signature of the question
			if err := a.nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: header, Data: yes}); err != nil {
				t.Errorf("answer: %v", err)
			}
		}
		asked <- struct{}{}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	genuine := saga.Sign(saga.Message{Subject: a.names.Command("d-4", stays.ID), Data: a.command("d-4", stays).Data}, attackedKey)
	// A command that is genuine, of a lost ledger say, is all that is missing for an erasure: so the answer decides.
	header := nats.Header{events.HeaderSignature: {genuine.Header[events.HeaderSignature]}}
	if _, err := a.js.PublishMsg(t.Context(), &nats.Msg{Subject: genuine.Subject, Header: header, Data: genuine.Data}); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "it asks again, so it has not believed what it was told", func() error {
		if n := len(asked); n < 3 {
			return fmt.Errorf("asked %d times", n)
		}
		return nil
	})
	err = assets.PutDocument(t.Context(), "stays", "description", map[string]any{"text": "y"}, "")
	Refused(t, err, problem.Unavailable)
	unchanged(t, s, before, "after forged answers")
}

// replays sends again what the services had sent, and variants of it, over a new life of the id and while that is deleted.
func (a *attacker) replays(t *testing.T, s *Stores, deps, assets *System, genuine []*nats.Msg, old dependency.Deletion) {
	if len(genuine) == 0 {
		t.Fatal("nothing was heard")
	}
	fillSplit(t, s, deps, assets, "gone")
	before := s.Snapshot(t)
	for _, m := range genuine {
		a.send(append(mangled(m), m)...)
	}
	unchanged(t, s, before, "after replays over the new generation")
	if err := deps.Pause(t.Context(), "attacked"); err != nil {
		t.Fatal(err)
	}
	d, err := deps.Delete(t.Context(), "gone", dependency.DeleteRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range genuine {
		if strings.Contains(m.Subject, ".report.") { // a command would wait until the pause is over
			a.send(m)
		}
	}
	if got, err := deps.Deletion(t.Context(), d.ID, ""); err != nil || got.Status != dependency.Deleting {
		t.Errorf("after replayed reports of %s the new deletion is %s, %v", old.ID, got.Status, err)
	}
	unchanged(t, s, before, "after replayed reports")
	if err := deps.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	deps.Await(d.ID)
	unchanged(t, s, before.Without("gone"), "at the end")
	if v, err := deps.Verify(t.Context(), dependency.VerifyRequest{}); err != nil || len(v.Violations) > 0 {
		t.Errorf("violations %+v, %v", v.Violations, err)
	}
}

// fillSplit makes a mesh with everything, where two processes run the services.
func fillSplit(t *testing.T, s *Stores, deps, assets *System, id string) dependency.Asset {
	t.Helper()
	a := deps.Create("mesh", id)
	if err := assets.PutDocument(t.Context(), id, "description", map[string]any{"text": a.Generation}, ""); err != nil {
		t.Fatal(err)
	}
	PutObject(t, s, "payload/"+id+"/"+a.Generation+"/one.bin", "one")
	PutObject(t, s, "thumbs/"+id+".png", "picture of "+a.Generation)
	return a
}

// unchanged wants the stores to hold exactly this.
func unchanged(t *testing.T, s *Stores, want map[string]string, when string) {
	t.Helper()
	if diff := cmp.Diff(want, map[string]string(s.Snapshot(t))); diff != "" {
		t.Errorf("%s the stores have changed (-want +got):\n%s", when, diff)
	}
}
