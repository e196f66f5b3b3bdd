package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TrustedRoots are the authorities that connections to the stores, the broker and the issuer of tokens trust: those of the system, and
// those of the CA file. Nil when there is no such file: the system's.
func (c Config) TrustedRoots() (*x509.CertPool, error) {
	if c.CA == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", c.CA)
	}
	return pool, nil
}

func setCA(c *Config, v string) error {
	c.CA = v
	_, err := c.TrustedRoots()
	return err
}

// checkCertificate looks at the pair once, so that a bad one stops the start.
func checkCertificate(c Config) error {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil
	case c.TLSCert == "" || c.TLSKey == "":
		return errors.New("TOMBSTONE_TLS_CERT and TOMBSTONE_TLS_KEY belong together: write both, or neither")
	}
	if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
		return fmt.Errorf("TOMBSTONE_TLS_CERT: %s", oneLine(err.Error()))
	}
	return nil
}
