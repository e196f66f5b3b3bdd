package system

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/tlstest"
	"github.com/tombstone-project/tombstone/test/stores"
)

// With TLS on every connection, under an authority of our own, a deletion goes its way; who does not trust it speaks to nobody.
func TestEveryConnectionSpeaksTLS(t *testing.T) {
	a := tlstest.New(t)
	t.Run("embedded stores, with a proxy before each", func(t *testing.T) {
		s := *Embedded(t)
		overTLS(t, a, &s)
		trusted(t, a, &s)
		distrusted(t, &s)
	})
	t.Run("containers, each of which speaks TLS itself", func(t *testing.T) {
		s := stores.Secured(t, a)
		trusted(t, a, s)
		distrusted(t, s)
	})
}

// trusted runs the services with the authority, and with a certificate of it on their own listener.
func trusted(t *testing.T, a *tlstest.Authority, s *Stores) {
	t.Helper()
	cert, key := a.Pair(3)
	s.Settings = map[string]string{"TOMBSTONE_CA": a.File, "TOMBSTONE_TLS_CERT": cert, "TOMBSTONE_TLS_KEY": key}
	sys := launch(t, s, app.All, policyText)
	sys.URL = strings.Replace(sys.URL, "http://", "https://", 1)
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: a.Client()}}
	defer web.CloseIdleConnections()
	var err error
	if sys.Client, err = client.New(sys.URL, "", client.WithHTTPClient(web)); err != nil {
		t.Fatal(err)
	}
	ready(t, sys)
	before := s.Snapshot(t)
	sys.Fill(sys.Create("mesh", "gone"))
	sys.Finish("gone")
	for place := range s.Snapshot(t) {
		if _, ok := before[place]; !ok {
			t.Errorf("left over: %s", place)
		}
	}
	if resp, err := http.Get(sys.URL + "/healthz"); err == nil {
		resp.Body.Close()
		t.Error("a client that does not trust the authority is served")
	}
	sys.Stop()
}

// distrusted runs the services without the authority: no store that speaks TLS may be ready.
func distrusted(t *testing.T, s *Stores) {
	t.Helper()
	s.Settings = nil
	stranger := launch(t, s, app.All, policyText)
	remote := []string{"broker", "documents", "blobs"}
	if !strings.HasPrefix(s.GraphURI, "sqlite") {
		remote = append(remote, "graph")
	}
	Eventually(t, "stores whose authority is not trusted are not ready", func() error {
		r, err := stranger.Ready(t.Context())
		if err != nil {
			return err
		}
		for _, store := range remote {
			if r.Ready || r.Stores[store] == "ok" || r.Stores[store] == "" {
				return fmt.Errorf("%s: %+v", store, r)
			}
		}
		return nil
	})
}

// overTLS puts TLS in front of embedded stores; the graph is a file. The broker, which begins without it, is another one.
func overTLS(t *testing.T, a *tlstest.Authority, s *Stores) {
	t.Helper()
	front := func(address, scheme, more string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		u.Scheme, u.Host, u.RawQuery = scheme, a.Front(u.Host), more
		return u.String()
	}
	s.Endpoint = front(s.Endpoint, "https", "")
	s.DocumentsURI = front(s.DocumentsURI, "mongodb", "tls=true")
	s.NATS, s.Users = tlsBroker(t, a.Server()), false
}

// tlsBroker starts a broker that speaks TLS and nothing else.
func tlsBroker(t *testing.T, c *tls.Config) string {
	t.Helper()
	b, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(),
		NoSigs: true, NoLog: true, TLS: true, TLSConfig: c, TLSTimeout: patience.Seconds()})
	if err != nil {
		t.Fatal(err)
	}
	go b.Start()
	t.Cleanup(func() { b.Shutdown(); b.WaitForShutdown() })
	if !b.ReadyForConnections(patience) {
		t.Fatal("the broker does not start")
	}
	return strings.Replace(b.ClientURL(), "nats://", "tls://", 1)
}
