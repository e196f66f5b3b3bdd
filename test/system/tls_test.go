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
)

// With TLS on every connection, under an authority of our own, a deletion goes its way; who does not trust it speaks to nobody.
func TestEveryConnectionSpeaksTLS(t *testing.T) {
	Each(t, func(t *testing.T, s *Stores) {
		a := tlstest.New(t)
		secured := *s
		overTLS(t, a, &secured)
		cert, key := a.Pair(3)
		secured.Settings = map[string]string{"TOMBSTONE_CA": a.File, "TOMBSTONE_TLS_CERT": cert, "TOMBSTONE_TLS_KEY": key}
		sys := launch(t, &secured, app.All, policyText)
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
		distrusting := secured
		distrusting.Settings = nil
		stranger := launch(t, &distrusting, app.All, policyText)
		Eventually(t, "stores whose authority is not trusted are not ready", func() error {
			r, err := stranger.Ready(t.Context())
			if err == nil && (r.Ready || r.Stores["broker"] == "ok" || r.Stores["documents"] == "ok" || r.Stores["blobs"] == "ok") {
				err = fmt.Errorf("%+v", r)
			}
			return err
		})
	})
}

// overTLS puts TLS in front of every store. The broker, which begins without it, is another one.
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
	if strings.HasPrefix(s.GraphURI, "bolt://") {
		s.GraphURI = front(s.GraphURI, "bolt+s", "")
	}
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
