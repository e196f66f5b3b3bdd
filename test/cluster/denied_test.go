package cluster

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

const (
	deniedAssets  = 200
	healthyAssets = 60
	healthyRounds = 3
)

// deniedBucket lets one bucket refuse everything while 200 deletions wait for it. Deletions of other assets must go on at
// full speed: at least half of what they had alone, in the best of some rounds, as machines are. When the bucket is open
// again and the operator says so, all are done.
func deniedBucket(t *testing.T, binary string) {
	s := stores.Containers(t)
	closed := *s
	closed.Bucket = s.Bucket + "-denied"
	s.CreateBucket(t, closed.Bucket)
	door := newDoor(t, s.Endpoint, closed.Bucket)
	c := New(t, binary, s, time.Minute)
	c.AddKinds(fmt.Sprintf("  denied: {parts: {data: {blobs: {bucket: %s, prefix: \"data/{id}/{generation}/\"}}}}\n", closed.Bucket))
	dep := c.Start(Dependency, s)
	c.Start(Asset, Through(t, s, Blobs, door.address))
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	waiting := fillDenied(t, l, &closed)
	round := func(name string) float64 {
		assets := importMany(t, l, name, healthyAssets)
		began := time.Now()
		deleteAll(t, l, assets)
		awaitAll(t, l, assets)
		return healthyAssets / time.Since(began).Seconds()
	}
	round("first") // everything is warm afterwards
	alone := round("alone")
	door.shut.Store(true)
	deleteAll(t, l, waiting)
	best := 0.0
	for i := range healthyRounds {
		best = max(best, round(fmt.Sprintf("beside%d", i)))
	}
	t.Logf("%d deletions wait; healthy ones a second: %.0f alone, %.0f beside them", deniedAssets, alone, best)
	if best < alone/2 {
		t.Errorf("healthy deletions go at %.0f a second beside those that wait, and at %.0f alone", best, alone)
	}
	awaitDenied(t, l, dep, waiting)
	door.shut.Store(false)
	if err := c.Call(t.Context(), Dependency, func(api *client.Client) error {
		_, err := api.Retry(t.Context(), dependency.Drive{All: true})
		return err
	}); err != nil {
		t.Errorf("retry: %v", err)
	}
	awaitAll(t, l, waiting)
	if left, err := closed.Objects(t.Context(), ""); err != nil || len(left) > 0 {
		t.Errorf("G3: the bucket holds %v, %v", left, err)
	}
	invariants.Check(t, invariants.World{API: dep.Client, URL: dep.URL, Stores: s}, l.known())
}

// fillDenied makes the assets whose objects lie in the bucket that will refuse.
func fillDenied(t *testing.T, l *load, bucket *stores.Stores) (assets []dependency.Asset) {
	t.Helper()
	for i := range deniedAssets {
		a, err := l.create(t.Context(), "denied", fmt.Sprintf("denied-%d", i))
		if err == nil {
			_, err = bucket.PutObject(t.Context(), "data/"+a.ID+"/"+a.Generation+"/it", "data")
		}
		if err != nil {
			t.Fatal(err)
		}
		l.facts.Truth[invariants.PartOf{Asset: a.ID, Generation: a.Generation, Part: "data"}] = invariants.Amount{Objects: 1, Bytes: 4}
		assets = append(assets, a)
	}
	return assets
}

// awaitDenied wants every one of the deletions to say why it waits.
func awaitDenied(t *testing.T, l *load, dep *Process, assets []dependency.Asset) {
	t.Helper()
	for _, a := range assets {
		Eventually(t, a.ID+" is blocked", func() error {
			d, err := dep.Deletion(t.Context(), l.deletionOf(a.ID), "")
			if err == nil && (d.Blocked == nil || d.Blocked.Reason != string(asset.ReasonAccessDenied)) {
				err = fmt.Errorf("%+v", d)
			}
			return err
		})
	}
	e, err := dep.Explain(t.Context(), l.deletionOf(assets[0].ID))
	if err != nil || e.NextTry == nil || !strings.Contains(e.LastError, string(asset.ReasonAccessDenied)) {
		t.Errorf("explain tells %+v, %v", e, err)
	}
}

func awaitAll(t *testing.T, l *load, assets []dependency.Asset) {
	t.Helper()
	for _, a := range assets {
		if err := l.await(t.Context(), l.deletionOf(a.ID), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// door stands before an object store, and refuses requests for one bucket while it is shut.
type door struct {
	address string
	shut    atomic.Bool
}

func newDoor(t *testing.T, endpoint, bucket string) *door {
	t.Helper()
	d := &door{}
	behind := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(parse(t, endpoint))
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.shut.Load() || strings.Split(r.URL.Path, "/")[1] != bucket {
			behind.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
	}))
	t.Cleanup(server.Close)
	d.address = server.Listener.Addr().String()
	return d
}
