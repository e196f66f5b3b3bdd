package containers

import (
	"bytes"
	"os"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Certificate is the PEM files of a server's certificate, of its key, and of the authority that has signed it.
type Certificate struct{ Cert, Key, Authority string }

// Where the files lie in the container. MongoDB wants certificate and key in one.
const (
	certPath      = "/tls/cert.pem"
	keyPath       = "/tls/key.pem"
	bothPath      = "/tls/both.pem"
	authorityPath = "/tls/ca.pem"
)

// SecureNeo4j starts a Neo4j server for this test that speaks TLS and nothing else on its Bolt port.
func SecureNeo4j(t testing.TB, c Certificate) Neo4jAddr {
	t.Helper()
	k := c.secure(t, neo4jKind(), testcontainers.WithEnv(map[string]string{
		"NEO4J_server_bolt_tls__level":                   "REQUIRED",
		"NEO4J_dbms_ssl_policy_bolt_enabled":             "true",
		"NEO4J_dbms_ssl_policy_bolt_base__directory":     "/tls",
		"NEO4J_dbms_ssl_policy_bolt_public__certificate": certPath,
		"NEO4J_dbms_ssl_policy_bolt_private__key":        keyPath,
		"NEO4J_dbms_ssl_policy_bolt_client__auth":        "NONE",
	}))
	a := neo4jAddr(own(t, k))
	a.URI = "bolt+s" + a.URI[len("bolt"):]
	return a
}

// SecureNATS is OwnNATS with the users of NATS and with TLS on every connection; it gives the URL.
func SecureNATS(t testing.TB, c Certificate) string {
	t.Helper()
	conf, err := sharedConf()
	if err != nil {
		t.Fatal(err)
	}
	k := natsKind()
	k.options = natsOptions(conf + "tls { cert_file: \"" + certPath + "\", key_file: \"" + keyPath + "\" }\n")
	return "tls://" + own(t, c.secure(t, k)).address
}

// SecureS3 starts an S3 server for this test that is served over TLS alone.
func SecureS3(t testing.TB, c Certificate) S3Addr {
	t.Helper()
	k := c.secure(t, s3Kind(), testcontainers.WithEnv(map[string]string{"VGW_CERT": certPath, "VGW_KEY": keyPath}))
	k.ready = wait.ForHTTP("/health").WithPort("7070/tcp").WithTLS(true).WithAllowInsecure(true)
	a := s3Addr(own(t, k))
	a.Endpoint = "https" + a.Endpoint[len("http"):]
	return a
}

// SecureMongo starts a MongoDB server (or FerretDB) for this test that speaks TLS and nothing else, and gives the URI of a
// database on it.
func SecureMongo(t testing.TB, c Certificate) string {
	t.Helper()
	k := mongoKind()
	if len(k.options) == 0 { // MongoDB itself
		k = c.secure(t, k, testcontainers.WithCmd("--tlsMode", "requireTLS", "--tlsCertificateKeyFile", bothPath,
			"--tlsCAFile", authorityPath, "--tlsAllowConnectionsWithoutCertificates"))
		k.ready = wait.ForLog("Waiting for connections")
	} else {
		k = c.secure(t, k, testcontainers.WithEnv(map[string]string{"FERRETDB_LISTEN_ADDR": "", "FERRETDB_LISTEN_TLS": ":27017",
			"FERRETDB_LISTEN_TLS_CERT_FILE": certPath, "FERRETDB_LISTEN_TLS_KEY_FILE": keyPath}))
	}
	return mongoURI(t, own(t, k)) + "?tls=true"
}

// secure adds the files and these options to how servers of a kind are started.
func (c Certificate) secure(t testing.TB, k kind, more ...testcontainers.ContainerCustomizer) kind {
	t.Helper()
	cert, key, authority := read(t, c.Cert), read(t, c.Key), read(t, c.Authority)
	for path, text := range map[string][]byte{certPath: cert, keyPath: key, bothPath: append(bytes.Clone(cert), key...), authorityPath: authority} {
		k.options = append(k.options, withText(path, string(text)))
	}
	k.options = append(k.options, more...)
	return k
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
