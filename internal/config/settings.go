package config

import (
	"github.com/tombstone-project/tombstone/internal/auth"
)

// prefix begins the name of every setting.
const prefix = "TOMBSTONE_"

// setting is one row of the table: its name, its default, and how a value gets into a Config.
type setting struct {
	name     string
	fallback string
	// secret values are never part of an error.
	secret bool
	set    func(c *Config, value string) error
}

// settings are all settings, in the order in which faults are told.
func settings() []setting {
	return []setting{
		{name: prefix + "LISTEN", fallback: "127.0.0.1:8080", set: with(parseListen, func(c *Config) *string { return &c.Listen })},
		{name: prefix + "TLS_CERT", set: text(func(c *Config) *string { return &c.TLSCert })},
		{name: prefix + "TLS_KEY", set: text(func(c *Config) *string { return &c.TLSKey })},
		{name: prefix + "CA", set: setCA},
		{name: Policy, set: text(func(c *Config) *string { return &c.Policy })},
		{name: prefix + "NAMESPACE", fallback: "tombstone", set: with(parseNamespace, func(c *Config) *string { return &c.Namespace })},
		{name: GraphURI, secret: true, set: with(parseGraphURI, func(c *Config) *Secret { return &c.GraphURI })},
		{name: prefix + "GRAPH_USER", set: text(func(c *Config) *string { return &c.GraphUser })},
		{name: prefix + "GRAPH_PASSWORD", secret: true, set: with(secret, func(c *Config) *Secret { return &c.GraphPassword })},
		{name: prefix + "GRAPH_DATABASE", set: text(func(c *Config) *string { return &c.GraphDatabase })},
		{name: DocumentsURI, secret: true, set: with(parseDocumentsURI, func(c *Config) *Secret { return &c.DocumentsURI })},
		{name: NATSURL, secret: true, set: with(parseNATSURL, func(c *Config) *Secret { return &c.NATSURL })},
		{name: prefix + "NATS_CREDS", set: text(func(c *Config) *string { return &c.NATSCreds })},
		{name: prefix + "MESSAGE_KEY", secret: true, set: with(parseMessageKey, func(c *Config) *Secret { return &c.MessageKey })},
		{name: prefix + "STREAM_REPLICAS", fallback: "1", set: with(parseReplicas, func(c *Config) *int { return &c.StreamReplicas })},
		{name: prefix + "BLOBS_ENDPOINT", set: with(parseEndpoint, func(c *Config) *string { return &c.BlobsEndpoint })},
		{name: prefix + "BLOBS_REGION", set: text(func(c *Config) *string { return &c.BlobsRegion })},
		{name: prefix + "AUTH", fallback: string(auth.MethodNone), set: with(parseAuth, func(c *Config) *auth.Setting { return &c.Auth })},
		{name: prefix + "AUTH_AUDIENCE", set: text(func(c *Config) *string { return &c.AuthAudience })},
		{name: prefix + "AUTH_OWNER_CLAIM", fallback: "owner", set: text(func(c *Config) *string { return &c.AuthOwnerClaim })},
		{name: prefix + "AUTH_ROLES_CLAIM", fallback: "roles", set: text(func(c *Config) *string { return &c.AuthRolesClaim })},
		{name: prefix + "AUTH_OPERATOR_ROLE", fallback: "operator", set: text(func(c *Config) *string { return &c.AuthOperatorRole })},
		{name: prefix + "RECEIPT_KEY", secret: true, set: with(parseReceiptKey, func(c *Config) *Secret { return &c.ReceiptKey })},
		{name: prefix + "REQUEST_TIMEOUT", fallback: "10s", set: setRequestTimeout},
		{name: prefix + "RATE_LIMIT", fallback: "0", set: with(auth.ParseRate, func(c *Config) *auth.Rate { return &c.RateLimit })},
		{name: prefix + "LOG_LEVEL", fallback: "info", set: setLogLevel},
		{name: prefix + "START_PAUSED", fallback: "false", set: setStartPaused},
	}
}

// with makes a set function of a parser and the place of its result.
func with[T any](parse func(string) (T, error), place func(*Config) *T) func(*Config, string) error {
	return func(c *Config, value string) (err error) {
		*place(c), err = parse(value)
		return err
	}
}

// text takes any value.
func text(place func(*Config) *string) func(*Config, string) error {
	return with(func(v string) (string, error) { return v, nil }, place)
}
