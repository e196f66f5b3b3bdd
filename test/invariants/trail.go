package invariants

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// line is what the trail and the feed both tell of one transition.
type line struct {
	Asset                                string
	Sequence                             int64
	Type, Deletion, Generation, Part, By string
}

// readTrails reads the trail of every asset.
func (w World) readTrails(t *testing.T, assets []dependency.Asset) map[string][]dependency.AuditItem {
	t.Helper()
	trails := map[string][]dependency.AuditItem{}
	for _, a := range assets {
		trails[a.ID] = everything(t, "the trail of "+a.ID, func(cursor string) (dependency.Page[dependency.AuditItem], error) {
			q := url.Values{"asset": {a.ID}}
			if cursor != "" {
				q.Set("cursor", cursor)
			}
			return read[dependency.Page[dependency.AuditItem]](t, w.URL, "/v1/admin/audit?"+q.Encode()), nil
		})
	}
	return trails
}

// checkTrails is G5 for parts: each was erased once by each deletion. What else a trail must hold, the product verifies.
func checkTrails(t *testing.T, trails map[string][]dependency.AuditItem) {
	t.Helper()
	once := map[string]bool{}
	for asset, items := range trails {
		for _, item := range items {
			what := fmt.Sprint(item.Deletion, asset, item.Part)
			if item.Type == events.TypePartErased && once[what] {
				t.Errorf("G5: %s of %s is in the trail twice for deletion %s", item.Part, asset, item.Deletion)
			}
			once[what] = once[what] || item.Type == events.TypePartErased
		}
	}
}

// checkFeed waits until the feed has every entry of the trails, and wants nothing else there, and no dead letters.
func (w World) checkFeed(t *testing.T, trails map[string][]dependency.AuditItem) {
	t.Helper()
	want := map[line]bool{}
	for asset, items := range trails {
		for _, i := range items {
			want[line{asset, i.Sequence, i.Type, i.Deletion, i.Generation, i.Part, i.By}] = true
		}
	}
	var diff string
	if !within(t, time.Minute, func() bool {
		feed := w.feed(t)
		diff = cmp.Diff(want, feed)
		return diff == ""
	}) {
		t.Errorf("G9: the feed (-trail +feed):\n%s", diff)
	}
	names := events.Names{Namespace: w.Stores.Namespace}
	if dead := w.messages(t, names.Dead().Name); len(dead) > 0 {
		t.Errorf("G1: %d dead letters, the first: %s", len(dead), dead[0])
	}
}

// feed is what the stream of events has; repeats are the same line.
func (w World) feed(t *testing.T) map[line]bool {
	t.Helper()
	feed := map[line]bool{}
	for _, data := range w.messages(t, events.Names{Namespace: w.Stores.Namespace}.Events().Name) {
		envelope, e, err := events.DecodeEvent(data)
		if err != nil {
			t.Fatalf("G9: the feed holds what cannot be read: %v", err)
		}
		feed[line{e.Asset, e.Sequence, envelope.Type, e.Deletion, e.Generation, e.Part, e.By}] = true
	}
	return feed
}

// messages reads a whole stream.
func (w World) messages(t *testing.T, stream string) (all [][]byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	nc, err := nats.Connect(w.Stores.NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatalf("read stream %s: %v", stream, err)
	}
	for {
		batch, err := consumer.FetchNoWait(1000)
		if err != nil {
			t.Fatalf("read stream %s: %v", stream, err)
		}
		n := len(all)
		for m := range batch.Messages() {
			all = append(all, m.Data())
		}
		if err := batch.Error(); err != nil {
			t.Fatalf("read stream %s: %v", stream, err)
		}
		if len(all) == n {
			return all
		}
	}
}

// read reads one answer of the API.
func read[T any](t *testing.T, base, path string) (v T) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(&v); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return v
}

// within polls for a time until done.
func within(t *testing.T, limit time.Duration, done func() bool) bool {
	t.Helper()
	deadline, tick := time.After(limit), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			return false
		case <-tick.C:
		}
	}
	return true
}
