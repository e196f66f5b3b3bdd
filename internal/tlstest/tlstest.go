// Package tlstest is a certificate authority for tests, and servers that speak TLS in front of others that do not.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Authority signs certificates for 127.0.0.1 and localhost.
type Authority struct {
	// File holds the authority's own certificate, in PEM.
	File string

	t    testing.TB
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// New makes an authority.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir(), key: newKey(t)}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.File = filepath.Join(a.dir, "ca.pem")
	a.write(a.File, "CERTIFICATE", der)
	return a
}

// Pair writes a certificate of a serial number and its key, over those that there are, and gives their files.
func (a *Authority) Pair(serial int64) (cert, key string) {
	a.t.Helper()
	own := newKey(a.t)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}, a.cert, &own.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, key = filepath.Join(a.dir, "cert.pem"), filepath.Join(a.dir, "key.pem")
	a.write(cert, "CERTIFICATE", der)
	a.write(key, "PRIVATE KEY", secret)
	return cert, key
}

// Server is the configuration of a server with a certificate of the authority.
func (a *Authority) Server() *tls.Config {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.Pair(2))
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
}

// Client trusts the authority alone.
func (a *Authority) Client() *tls.Config {
	a.t.Helper()
	text, err := os.ReadFile(a.File)
	if err != nil {
		a.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
}

// Front speaks TLS in front of a server that does not, until the test ends, and gives its own address.
func (a *Authority) Front(address string) string {
	a.t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", a.Server())
	if err != nil {
		a.t.Fatal(err)
	}
	var all sync.WaitGroup
	a.t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { forward(conn, address) })
		}
	})
	return l.Addr().String()
}

// forward copies both ways until one of them ends.
func forward(conn net.Conn, address string) {
	defer conn.Close()
	behind, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer behind.Close()
	ended := make(chan struct{}, 2)
	copyTo := func(to, from net.Conn) { _, _ = io.Copy(to, from); ended <- struct{}{} }
	go copyTo(behind, conn)
	go copyTo(conn, behind)
	<-ended
}

func (a *Authority) write(file, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
