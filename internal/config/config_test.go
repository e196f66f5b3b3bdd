package config

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/auth"
)

// env makes a LookupEnv of pairs NAME=VALUE.
func env(pairs ...string) func(string) (string, bool) {
	all := map[string]string{}
	for _, kv := range pairs {
		name, value, _ := strings.Cut(kv, "=")
		all[name] = value
	}
	return func(name string) (string, bool) { v, ok := all[name]; return v, ok }
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func pemKey(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestDefaults(t *testing.T) {
	got, err := Load(Sources{LookupEnv: env("TOMBSTONE_LISTEN=")})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Listen: "127.0.0.1:8080", Namespace: "tombstone", StreamReplicas: 1, Auth: auth.Setting{Method: auth.MethodNone},
		RateLimit: auth.Rate{Burst: 1}, AuthOwnerClaim: "owner", AuthRolesClaim: "roles", AuthOperatorRole: "operator",
		RequestTimeout: 10 * time.Second, LogLevel: slog.LevelInfo,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsComeBeforeTheEnvironmentAndThatBeforeTheFile(t *testing.T) {
	yaml := file(t, "# settings\nTOMBSTONE_NAMESPACE: from-file\nTOMBSTONE_STREAM_REPLICAS: 3\nTOMBSTONE_REQUEST_TIMEOUT: 3s\nTOMBSTONE_START_PAUSED: true\n")
	got, err := Load(Sources{
		Flags:     map[string]string{"TOMBSTONE_NAMESPACE": "from-flag", "TOMBSTONE_REQUEST_TIMEOUT": ""},
		LookupEnv: env("TOMBSTONE_NAMESPACE=from-env", "TOMBSTONE_REQUEST_TIMEOUT=4s"),
		File:      yaml,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Namespace != "from-flag" || got.RequestTimeout != 4*time.Second || got.StreamReplicas != 3 || !got.StartPaused {
		t.Errorf("got %+v", got)
	}
}

func TestSecretsMayComeFromFiles(t *testing.T) {
	password := file(t, "s3cret\r\n")
	got, err := Load(Sources{LookupEnv: env("TOMBSTONE_GRAPH_PASSWORD_FILE=" + password)})
	if err != nil || got.GraphPassword.Reveal() != "s3cret" {
		t.Fatalf("from the environment: got %q, %v", got.GraphPassword.Reveal(), err)
	}
	yaml := file(t, "TOMBSTONE_GRAPH_PASSWORD_FILE: "+password+"\n")
	if got, err = Load(Sources{LookupEnv: env(), File: yaml}); err != nil || got.GraphPassword.Reveal() != "s3cret" {
		t.Fatalf("from the file: got %q, %v", got.GraphPassword.Reveal(), err)
	}
	got, err = Load(Sources{LookupEnv: env("TOMBSTONE_GRAPH_PASSWORD=direct"), File: yaml})
	if err != nil || got.GraphPassword.Reveal() != "direct" {
		t.Fatalf("the environment comes before the file: got %q, %v", got.GraphPassword.Reveal(), err)
	}
}

func TestBadValuesAreNamedOnOneLine(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for pair, want := range map[string]string{
		"TOMBSTONE_LISTEN=8080":                           "TOMBSTONE_LISTEN=8080: write HOST:PORT",
		"TOMBSTONE_LISTEN=127.0.0.1:http2":                "TOMBSTONE_LISTEN=",
		"TOMBSTONE_LISTEN=0.0.0.0:8080":                   "TOMBSTONE_AUTH: none is for listeners on loopback only",
		"TOMBSTONE_NAMESPACE=two words.*":                 "TOMBSTONE_NAMESPACE=two words.*: write",
		"TOMBSTONE_NAMESPACE=Upper":                       "TOMBSTONE_NAMESPACE",
		"TOMBSTONE_NAMESPACE=-x":                          "TOMBSTONE_NAMESPACE",
		"TOMBSTONE_AUTH=maybe":                            "TOMBSTONE_AUTH=maybe",
		"TOMBSTONE_AUTH=tokens:/no/such/file":             "TOMBSTONE_AUTH=tokens:/no/such/file: ",
		"TOMBSTONE_AUTH=oidc:https://issuer":              "TOMBSTONE_AUTH_AUDIENCE is not set",
		"TOMBSTONE_AUTH=oidc:http://issuer":               "TOMBSTONE_AUTH=oidc:http://issuer: the address of an issuer begins with https://",
		"TOMBSTONE_STREAM_REPLICAS=many":                  "TOMBSTONE_STREAM_REPLICAS=many: write a number from 1 to 5",
		"TOMBSTONE_STREAM_REPLICAS=0":                     "TOMBSTONE_STREAM_REPLICAS",
		"TOMBSTONE_STREAM_REPLICAS=6":                     "TOMBSTONE_STREAM_REPLICAS",
		"TOMBSTONE_LOG_LEVEL=shouting":                    "TOMBSTONE_LOG_LEVEL=shouting: write debug, info, warn or error",
		"TOMBSTONE_MESSAGE_KEY=s3cret":                    "TOMBSTONE_MESSAGE_KEY: key 1 has 6 characters",
		"TOMBSTONE_RECEIPT_KEY=not-a-key":                 "TOMBSTONE_RECEIPT_KEY: this is not PEM",
		"TOMBSTONE_RECEIPT_KEY_FILE=/no/such/file":        "TOMBSTONE_RECEIPT_KEY_FILE: ",
		"TOMBSTONE_RECEIPT_KEY=" + pemKey(t, rsaKey):      "TOMBSTONE_RECEIPT_KEY: this is a key of another sort",
		"TOMBSTONE_REQUEST_TIMEOUT=soon":                  "TOMBSTONE_REQUEST_TIMEOUT=soon: write a duration",
		"TOMBSTONE_RATE_LIMIT=fast":                       "TOMBSTONE_RATE_LIMIT=fast: write requests a second",
		"TOMBSTONE_REQUEST_TIMEOUT=10":                    "TOMBSTONE_REQUEST_TIMEOUT",
		"TOMBSTONE_REQUEST_TIMEOUT=-1s":                   "TOMBSTONE_REQUEST_TIMEOUT",
		"TOMBSTONE_GRAPH_URI=http://user:s3cret@host":     "TOMBSTONE_GRAPH_URI: write neo4j://",
		"TOMBSTONE_GRAPH_URI=sqlite://relative.db":        "TOMBSTONE_GRAPH_URI",
		"TOMBSTONE_DOCUMENTS_URI=mongodb://u:s3cret@host": "TOMBSTONE_DOCUMENTS_URI: write mongodb://",
		"TOMBSTONE_DOCUMENTS_URI=mongodb://u:s3cret@h/?x": "TOMBSTONE_DOCUMENTS_URI",
		"TOMBSTONE_NATS_URL=http://u:s3cret@host":         "TOMBSTONE_NATS_URL: write nats://",
		"TOMBSTONE_BLOBS_ENDPOINT=localhost:9000":         "TOMBSTONE_BLOBS_ENDPOINT",
		"TOMBSTONE_START_PAUSED=perhaps":                  "TOMBSTONE_START_PAUSED=perhaps: write true or false",
		"TOMBSTONE_GRAPH_PASSWORD_FILE=" + file(t, "\n"):  "TOMBSTONE_GRAPH_PASSWORD_FILE: ",
	} {
		t.Run(fmt.Sprintf("%.40s", pair), func(t *testing.T) {
			_, err := Load(Sources{LookupEnv: env(pair)})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("expected one line with %q, got %v", want, err)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Fatalf("the error tells a password: %v", err)
			}
		})
	}
}

func TestGoodValues(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range []string{
		"TOMBSTONE_GRAPH_URI=neo4j://graph:7687", "TOMBSTONE_GRAPH_URI=neo4j+s://graph", "TOMBSTONE_GRAPH_URI=bolt://graph:7687",
		"TOMBSTONE_GRAPH_URI=sqlite:///var/lib/graph.db", "TOMBSTONE_DOCUMENTS_URI=mongodb://u:p@a:27017,b:27017/db?replicaSet=rs",
		"TOMBSTONE_DOCUMENTS_URI=mongodb+srv://cluster.example/db", "TOMBSTONE_NATS_URL=nats://a:4222,tls://b:4222",
		"TOMBSTONE_BLOBS_ENDPOINT=http://blobs:7070", "TOMBSTONE_NAMESPACE=a-1", "TOMBSTONE_RECEIPT_KEY=" + pemKey(t, key),
	} {
		got, err := Load(Sources{LookupEnv: env(pair)})
		if err != nil {
			t.Errorf("%.60s: %v", pair, err)
		}
		if signing, err := got.ReceiptSigningKey(); err != nil || (got.ReceiptKey != "" && !key.Equal(signing)) {
			t.Errorf("receipt key: got %v, %v", signing, err)
		}
	}
}

func TestAllFaultsAreTold(t *testing.T) {
	_, err := Load(Sources{LookupEnv: env("TOMBSTONE_LOG_LEVEL=x", "TOMBSTONE_STREAM_REPLICAS=x")})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("expected two lines, got %v", err)
	}
	_, err = Load(Sources{LookupEnv: env("TOMBSTONE_GRAPH_PASSWORD=a", "TOMBSTONE_GRAPH_PASSWORD_FILE=b")})
	if err == nil || !strings.Contains(err.Error(), "write one of them") {
		t.Errorf("expected a complaint about two values, got %v", err)
	}
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"TOMBSTONE_LISTEN: [a]\n":                    ":1:19: write a plain value",
		"TOMBSTONE_LISTN: a\n":                       ":1:1: there is no setting TOMBSTONE_LISTN: write the name of one, like TOMBSTONE_LISTEN",
		"TOMBSTONE_AUHT: none\n":                     "like TOMBSTONE_AUTH",
		"\nTOMBSTONE_TOKEN: a\n":                     ":2:1: there is no setting TOMBSTONE_TOKEN",
		"- a\n":                                      "not a mapping",
		"TOMBSTONE_LISTEN: a\nTOMBSTONE_LISTEN: b\n": ":2:1:",
		"TOMBSTONE_LISTEN: {\n":                      ":1:",
	} {
		_, err := Load(Sources{LookupEnv: env(), File: file(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: expected one line with %q, got %v", text, want, err)
		}
	}
	if _, err := Load(Sources{LookupEnv: env(), File: "/no/such/file"}); err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestNamesThatAreAlmostASettingAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"TOMBSTONE_NAMESPCE": "TOMBSTONE_NAMESPACE", "TOMBSTONE_AUHT": "TOMBSTONE_AUTH", "TOMBSTONE_NATS_URI": "TOMBSTONE_NATS_URL",
		"TOMBSTONE_GRAPH_PASWORD_FILE": "TOMBSTONE_GRAPH_PASSWORD_FILE",
	} {
		_, err := Load(Sources{LookupEnv: env(), EnvNames: []string{"HOME", name}})
		if err == nil || !strings.Contains(err.Error(), "there is no setting "+name+": write "+want+",") {
			t.Errorf("%s: expected a line with %s, got %v", name, want, err)
		}
	}
	others := []string{ // what Kubernetes gives for a service named tombstone, what other commands and the tests read
		"TOMBSTONE_PORT", "TOMBSTONE_SERVICE_HOST", "TOMBSTONE_SERVICE_PORT", "TOMBSTONE_SERVICE_PORT_HTTP", "TOMBSTONE_PORT_8080_TCP",
		"TOMBSTONE_PORT_8080_TCP_ADDR", "TOMBSTONE_PORT_8080_TCP_PROTO", "TOMBSTONE_ASSET_SERVICE_HOST", "TOMBSTONE_DEPENDENCY_PORT",
		"TOMBSTONE_URL", "TOMBSTONE_TOKEN", "TOMBSTONE_TOKEN_FILE", "TOMBSTONE_IMAGE", "TOMBSTONE_CLUSTER", "TOMBSTONE_SOAK", "TOMBSTONE_SEED",
		"TOMBSTONE_BIN", "TOMBSTONE_TEST_MONGO_IMAGE", "TOMBSTONE_NAMESPACE", "TOMBSTONE_RECEIPT_KEY_FILE", "LISTN", "TOMBSTONE",
	}
	if _, err := Load(Sources{LookupEnv: env(), EnvNames: others}); err != nil {
		t.Error(err)
	}
}

func TestRequire(t *testing.T) {
	c := Config{GraphURI: "neo4j://x", Policy: "p"}
	if err := c.Require(GraphURI, Policy); err != nil {
		t.Error(err)
	}
	err := c.Require(GraphURI, NATSURL, DocumentsURI)
	if err == nil || !strings.Contains(err.Error(), "TOMBSTONE_NATS_URL is not set: write nats://") || !strings.Contains(err.Error(), "TOMBSTONE_DOCUMENTS_URI is not set") {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := Config{GraphPassword: "s3cret", NATSURL: "nats://u:s3cret@host"}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "password", c.GraphPassword, "config", c)
	js, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	s := c.GraphPassword
	for _, printed := range []string{
		fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%q %x %d %s", s, s, s, s), string(js), log.String(),
	} {
		if strings.Contains(printed, "s3cret") || strings.Contains(printed, fmt.Sprintf("%x", "s3cret")) {
			t.Errorf("printed: %s", printed)
		}
		if !strings.Contains(printed, "***") {
			t.Errorf("no mark of a secret in %s", printed)
		}
	}
}
