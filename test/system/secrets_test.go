package system

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/config"
)

// mark begins every secret of this test.
const mark = "SECRET"

// Secrets are in no line of the log, no answer and no metric, whatever goes wrong with what they are for: a broker and stores that
// refuse them, stores that are not there, callers who are not known.
func TestSecretsAreNeverTold(t *testing.T) {
	for name, change := range map[string]func(s *Stores){
		"stores that are not there": func(s *Stores) {
			s.GraphURI, s.GraphUser, s.GraphPassword = "bolt://"+freePort(t), "neo4j", mark+"-graph"
			s.DocumentsURI = "mongodb://user:" + mark + "-documents@" + freePort(t) + "/db"
			s.NATS = "nats://user:" + mark + "-broker@" + freePort(t)
			s.Endpoint = "http://" + freePort(t)
		},
		"stores that refuse": func(s *Stores) {
			broker := lockedBroker(t)
			s.NATS = strings.Replace(broker, "nats://", "nats://asset:"+mark+"-broker@", 1)
			u, err := url.Parse(s.DocumentsURI)
			if err != nil {
				t.Fatal(err)
			}
			u.User = url.UserPassword("nobody", mark+"-documents")
			s.DocumentsURI = u.String()
			s.Secret = mark + "-blobs"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Embedded(t)
			change(s)
			receipt := signingKey(t)
			s.MessageKey = mark + strings.Repeat("-message", 8)
			s.Settings = map[string]string{"TOMBSTONE_RECEIPT_KEY": receipt, "TOMBSTONE_AUTH": "tokens:" + tokensFile(t)}
			sys := launch(t, s, app.All, policyText)
			Eventually(t, "health", func() error { return sys.Health(t.Context()) })
			told := ask(t, sys)
			sys.Stop()
			told += sys.Log.String()
			if !strings.Contains(told, "does not answer") {
				t.Errorf("nothing has gone wrong:\n%.2000s", told)
			}
			body := strings.Split(receipt, "\n")[1]
			for _, secret := range []string{mark, url.QueryEscape(mark), base64.StdEncoding.EncodeToString([]byte(mark + "-")), body} {
				if at := strings.Index(told, secret); at >= 0 {
					t.Errorf("%q is told: …%s…", secret, told[max(0, at-300):min(len(told), at+100)])
				}
			}
		})
	}
}

// Nor in the errors of a start that fails.
func TestABadSecretIsNotTold(t *testing.T) {
	for name, value := range map[string]string{
		"TOMBSTONE_GRAPH_URI": "wrong://u:" + mark + "@h", "TOMBSTONE_DOCUMENTS_URI": "mongodb://u:" + mark + "@h:x:y", "TOMBSTONE_NATS_URL": "nats://u:" + mark + "@ h",
		"TOMBSTONE_MESSAGE_KEY": mark, "TOMBSTONE_RECEIPT_KEY": mark, "TOMBSTONE_BLOBS_ENDPOINT": "https://u:" + mark + "@h",
		"TOMBSTONE_AUTH": "oidc:https://u:" + mark + "@h",
	} {
		_, err := config.Load(config.Sources{LookupEnv: func(string) (string, bool) { return "", false }, Flags: map[string]string{name: value}})
		if err == nil || strings.Contains(err.Error(), mark) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ask sends what callers send, good and bad, and gives all that is answered.
func ask(t *testing.T, sys *System) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/readyz", "/metrics", "/openapi.json", "/docs", "/", "/deletions", "/v1/assets", "/v1/assets/a", "/v1/admin/stores", "/v1/admin/pending",
		"/v1/assets/a/documents/description", "/v1/nothing?token=" + "x"} {
		for _, token := range []string{"", mark + "-unknown", mark + "-token"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sys.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
				r.Header.Set("Lease-Token", mark+"-lease")
				r.AddCookie(&http.Cookie{Name: "tombstone", Value: base64.RawURLEncoding.EncodeToString([]byte(token))})
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			fmt.Fprintln(&all, path, resp.Status, resp.Header, string(text), err)
		}
	}
	return all.String()
}

func tokensFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	text := fmt.Sprintf("- {sha256: %x, subject: op, owner: acme, roles: [operator]}\n", sha256.Sum256([]byte(mark+"-token")))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func signingKey(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
