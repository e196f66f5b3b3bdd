package system

import (
	"database/sql"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

//go:embed testdata/graph-v1.sql
var recorded string

// olderPolicy is the one that it was recorded with.
const olderPolicy = `
graph: {label: %[2]s}
links: {DEPENDS_ON: {on_target_delete: restrict}, PART_OF: {on_target_delete: cascade}, REFERENCES: {on_target_delete: detach}}
kinds:
  mesh:
    parts:
      payload: {blobs: {bucket: %[1]s, prefix: "payload/{id}/{generation}/"}}
  item:
    parts:
      note: {document: {collection: notes}}
  late: {grace: 720h}
`

// The generations of assets of the recorded graph.
const (
	olderLive     = "01a22e92-59f4-7d93-a0f7-e0af79317dbf"
	olderDeleting = "01a22e92-59f4-7ec2-a30d-fd6e6efb9049"
)

// Two processes of this version start at the same time where the first version has stopped in the middle of its work: its
// tables, its streams with other settings, and its messages on them.
func TestAnInstallationOfTheFirstVersionIsTakenOver(t *testing.T) {
	s := Embedded(t)
	olderGraph(t, s)
	olderStreams(t, s)
	for id, generation := range map[string]string{"live": olderLive, "deleting": olderDeleting} {
		PutObject(t, s, "payload/"+id+"/"+generation+"/one.bin", "of "+id)
	}
	both := []*System{launch(t, s, app.All, olderPolicy), launch(t, s, app.All, olderPolicy)}
	for _, sys := range both {
		Eventually(t, "ready", func() error {
			r, err := sys.Ready(t.Context())
			if err == nil && !r.Ready {
				err = fmt.Errorf("%+v", r)
			}
			return err
		})
	}
	sys := both[0]
	d := sys.Await(deletionOf(t, sys, "deleting"))
	if d.Reason != "the shop closes" || d.Assets.Deleted != 2 {
		t.Errorf("the deletion that was under way: %+v", d)
	}
	objects := slices.Sorted(maps.Keys(s.Snapshot(t)))
	if len(objects) != 1 || !strings.Contains(objects[0], olderLive) {
		t.Errorf("left in the stores: %v", objects)
	}
	_, err := sys.Delete(t.Context(), "held", dependency.DeleteRequest{})
	Refused(t, err, problem.OnHold)
	_, err = sys.Delete(t.Context(), "live", dependency.DeleteRequest{})
	Refused(t, err, problem.HasDependants)
	takenBack(t, sys)
	if usage, err := sys.Usage(t.Context(), "acme"); err != nil || usage.Assets != 3 || usage.Bytes != 15 || usage.Pending != 0 {
		t.Errorf("usage: %+v, %v", usage, err)
	}
	if v, err := sys.Verify(t.Context(), dependency.VerifyRequest{}); err != nil || v.Total > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	trailGoesOn(t, sys)
}

// trailGoesOn wants what happened since the recording behind what was recorded, without a gap. That the deletion is stalled,
// as it is an hour after the recording, may be told between.
func trailGoesOn(t *testing.T, sys *System) {
	t.Helper()
	trail, err := sys.Audit(t.Context(), "deleting", "")
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for i, entry := range trail.Items {
		if entry.Sequence != int64(i)+1 {
			t.Errorf("entry %d has the sequence %d", i+1, entry.Sequence)
		}
		if entry.Type != events.TypeDeletionStalled {
			types = append(types, entry.Type)
		}
	}
	want := []string{events.TypeDeletionRequested, events.TypePartErased, events.TypeAssetErased, events.TypeDeletionCompleted}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("trail (-want +got):\n%s", diff)
	}
}

// olderGraph puts the recorded graph where this installation's will be.
func olderGraph(t *testing.T, s *Stores) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(s.GraphURI, "sqlite://"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), strings.ReplaceAll(recorded, "the-bucket", s.Bucket))
	if fault := db.Close(); err != nil || fault != nil {
		t.Fatal(err, fault)
	}
}

// olderStreams makes the queue of commands with fewer rules and a consumer that gives up, and puts two commands there: one
// that was sent and not carried out, and one for what is done.
func olderStreams(t *testing.T, s *Stores) {
	t.Helper()
	nc, err := nats.Connect(s.NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	names := events.Names{Namespace: s.Namespace}
	queue := names.Commands()
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: queue.Name, Subjects: []string{queue.Subjects}, Retention: jetstream.WorkQueuePolicy})
	if err == nil {
		_, err = stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: names.EraseConsumer(), AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: 3})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ deletion, asset, generation string }{
		{"01a22e92-63df-7df6-97d2-95bb7e9c8fab", "deleting", olderDeleting},
		{"01a22e92-5a1d-7693-b03d-6686eed04d31", "deleted", "01a22e92-59f4-7ea5-9e1f-163d061983ec"},
	} {
		message := fmt.Sprintf(`{"specversion":"1.0","id":"m-%s","source":"/tombstone/dependency","type":"tombstone.erase.v1","time":"2026-11-30T22:27:55Z",`+
			`"datacontenttype":"application/json","data":{"deletion":%q,"asset":%q,"kind":"mesh","owner":"acme","generation":%q,"by":"anonymous","reason":""}}`,
			c.asset, c.deletion, c.asset, c.generation)
		if _, err := js.Publish(t.Context(), names.Command(c.deletion, c.asset), []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
}

// takenBack cancels the deletion that the first version has scheduled, and wants back what it took.
func takenBack(t *testing.T, sys *System) {
	t.Helper()
	if _, err := sys.Cancel(t.Context(), deletionOf(t, sys, "scheduled")); err != nil {
		t.Fatal(err)
	}
	a, err := sys.Asset(t.Context(), "needs-live")
	if err != nil {
		t.Fatal(err)
	}
	want := []dependency.LinkTo{{Type: "DEPENDS_ON", To: "live"}, {Type: "REFERENCES", To: "scheduled"}}
	if diff := cmp.Diff(want, a.Links); diff != "" {
		t.Errorf("links after the cancel (-want +got):\n%s", diff)
	}
}

// deletionOf is the id of an asset's deletion.
func deletionOf(t *testing.T, sys *System, id string) string {
	t.Helper()
	a, err := sys.Asset(t.Context(), id)
	if err != nil || a.Deletion == "" {
		t.Fatalf("asset %s: %+v, %v", id, a, err)
	}
	return a.Deletion
}
