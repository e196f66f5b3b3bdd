package app

import (
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/tlstest"
)

// shown is the serial number of the certificate that a listener shows.
func shown(t *testing.T, address string, c *tls.Config) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", address, c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestTheListenersCertificate(t *testing.T) {
	a := tlstest.New(t)
	cert, key := a.Pair(10)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &certificate{cert: cert, key: key, log: slog.New(slog.DiscardHandler)} // looks each time
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	l := tls.NewListener(plain, listenerTLS(c))
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	defer func() { l.Close(); <-served }()
	address, trusting := l.Addr().String(), a.Client()
	if got := shown(t, address, trusting); got != 10 {
		t.Errorf("serial %d, want 10", got)
	}
	a.Pair(11)
	if got := shown(t, address, trusting); got != 11 {
		t.Errorf("a new file: serial %d, want 11", got)
	}
	if err := os.WriteFile(cert, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, address, trusting); got != 11 {
		t.Errorf("a broken file: serial %d, want the one from before, 11", got)
	}
	a.Pair(12)
	if got := shown(t, address, trusting); got != 12 {
		t.Errorf("a mended file: serial %d, want 12", got)
	}
	old := a.Client()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := tls.Dial("tcp", address, old); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("TLS 1.1: %v", err)
	}
}
