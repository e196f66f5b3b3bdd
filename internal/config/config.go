// Package config reads the settings of the services: flags, else environment, else a YAML file with the same names.
// Every error is one line that names the setting (TOMBSTONE_…) and says what to write.
package config

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tombstone-project/tombstone/internal/auth"
)

// Config holds the settings. Load makes one in which every value that was given is valid; what a role needs besides is
// asked with Require.
type Config struct {
	// Listen is where HTTP is served, host:port. Default 127.0.0.1:8080.
	Listen string
	// TLSCert and TLSKey are PEM files for the listener; both empty: plain HTTP.
	TLSCert string
	TLSKey  string
	// CA is a PEM file of authorities that connections trust besides the system's.
	CA string
	// Policy is the policy file.
	Policy string
	// Namespace is the first word of subjects, streams, consumers and collections. Default "tombstone".
	Namespace string

	// GraphURI is neo4j://, neo4j+s://, bolt://, or sqlite:// with an absolute path.
	GraphURI      Secret
	GraphUser     string
	GraphPassword Secret
	GraphDatabase string
	// DocumentsURI is mongodb://…/DATABASE.
	DocumentsURI Secret
	// NATSURL may be several, with commas between them.
	NATSURL Secret
	// NATSCreds is a credentials file.
	NATSCreds string
	// MessageKey holds the keys that sign messages between the services; empty: they are not signed.
	MessageKey Secret
	// StreamReplicas is 1 to 5; default 1.
	StreamReplicas int
	// BlobsEndpoint is empty for AWS. Credentials come from the AWS SDK's usual chain.
	BlobsEndpoint string
	BlobsRegion   string

	// Auth tells callers apart; default none.
	Auth auth.Setting
	// AuthAudience, AuthOwnerClaim, AuthRolesClaim and AuthOperatorRole say what tokens of an issuer hold; see auth.OIDC.
	AuthAudience     string
	AuthOwnerClaim   string
	AuthRolesClaim   string
	AuthOperatorRole string
	// ReceiptKey is an Ed25519 private key in PEM (PKCS #8); empty: a key is made and kept with the graph.
	ReceiptKey Secret
	// RequestTimeout bounds each HTTP request, waiting on request and imports apart. Default 10s.
	RequestTimeout time.Duration
	// RateLimit is how often one caller may ask; the zero value: as often as it likes.
	RateLimit auth.Rate
	// LogLevel is debug, info, warn or error; default info.
	LogLevel slog.Level
	// StartPaused starts with physical deletion paused.
	StartPaused bool
}

// The names of the settings that some roles cannot do without.
const (
	Policy       = prefix + "POLICY"
	GraphURI     = prefix + "GRAPH_URI"
	DocumentsURI = prefix + "DOCUMENTS_URI"
	NATSURL      = prefix + "NATS_URL"
)

// Require tells which of the named settings are not given, joined.
func (c Config) Require(names ...string) error {
	given := map[string]bool{
		Policy: c.Policy != "", GraphURI: c.GraphURI != "", DocumentsURI: c.DocumentsURI != "", NATSURL: c.NATSURL != "",
	}
	examples := map[string]string{
		Policy: "the path of a policy file", GraphURI: "neo4j://HOST:7687 or sqlite:///PATH",
		DocumentsURI: "mongodb://HOST:27017/DATABASE", NATSURL: "nats://HOST:4222",
	}
	var missing []error
	for _, name := range names {
		if !given[name] {
			missing = append(missing, fmt.Errorf("%s is not set: write %s", name, examples[name]))
		}
	}
	return errors.Join(missing...)
}

// ReceiptSigningKey is the parsed ReceiptKey, nil when none was given.
func (c Config) ReceiptSigningKey() (ed25519.PrivateKey, error) {
	if c.ReceiptKey == "" {
		return nil, nil
	}
	return parseSigningKey(c.ReceiptKey.Reveal())
}
