package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// certificateEvery is the shortest time between two looks at the certificate's files.
const certificateEvery = 10 * time.Second

// secure wraps a listener in TLS 1.2 or later when there is a certificate. Its files are read again when they change.
func secure(l net.Listener, certFile, keyFile string, log *slog.Logger) (net.Listener, error) {
	if certFile == "" {
		return l, nil
	}
	c := &certificate{cert: certFile, key: keyFile, log: log, every: certificateEvery}
	if err := c.load(); err != nil {
		return nil, err
	}
	return tls.NewListener(l, listenerTLS(c)), nil
}

func listenerTLS(c *certificate) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"h2", "http/1.1"}}
}

// certificate is a pair of files as last read.
type certificate struct {
	cert, key string
	log       *slog.Logger
	every     time.Duration

	mu      sync.Mutex
	looked  time.Time
	written [2]time.Time // when the files were written
	pair    *tls.Certificate
}

// get gives the pair of the files as they are now, or as they were when they were last good.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= c.every && c.changed() {
		if err := c.load(); err != nil {
			c.log.Error("the certificate cannot be used; the one from before is served on", "file", c.cert, "error", err)
		} else {
			c.log.Info("the certificate has changed", "file", c.cert)
		}
	}
	return c.pair, nil
}

// changed tells whether the files are others than those that were read, and notes when it looked.
func (c *certificate) changed() bool {
	c.looked = time.Now()
	return c.times() != c.written
}

// times are when the files were written; zero for one that is not there.
func (c *certificate) times() (written [2]time.Time) {
	for i, file := range []string{c.cert, c.key} {
		if info, err := os.Stat(file); err == nil {
			written[i] = info.ModTime()
		}
	}
	return written
}

// load reads the files.
func (c *certificate) load() error {
	c.looked, c.written = time.Now(), c.times()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	c.pair = &pair
	return nil
}
