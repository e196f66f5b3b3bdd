package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func hash(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

func entry(token, subject, owner, roles string) string {
	return fmt.Sprintf("- {sha256: %s, subject: %s, owner: %s, roles: %s}\n", hash(token), subject, owner, roles)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open makes an authenticator of a file with this text, and a clock that the test moves.
func open(t *testing.T, text string) (a *tokens, file string, later func()) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "tokens.yaml")
	write(t, file, text)
	a, err := openTokens(file, quiet())
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Now()
	a.now = func() time.Time { return clock }
	return a, file, func() { clock = clock.Add(2 * reloadEvery) }
}

func TestTokens(t *testing.T) {
	a, _, _ := open(t, entry("alice-token", "alice", "acme", "[]")+entry("op-token", "olga", "ops", "[operator]"))
	for header, want := range map[string]dependency.Caller{
		"Bearer alice-token": {Subject: "alice", Owner: "acme"},
		"bearer op-token ":   {Subject: "olga", Owner: "ops", Operator: true},
	} {
		if c, err := a.Authenticate(requestTo("example.com", header)); err != nil || c != want {
			t.Errorf("%s: got %+v, %v", header, c, err)
		}
	}
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic alice-token", "alice-token", "Bearer " + hash("op-token")} {
		if _, err := a.Authenticate(requestTo("example.com", header)); !errors.Is(err, problem.Unauthenticated) {
			t.Errorf("%q: expected unauthenticated, got %v", header, err)
		}
	}
}

func TestTokensFileChanges(t *testing.T) {
	knows := func(a *tokens, token string) bool {
		_, err := a.Authenticate(requestTo("x", "Bearer "+token))
		return err == nil
	}
	t.Run("a new file is taken up without a restart", func(t *testing.T) {
		a, file, later := open(t, entry("old", "a", "o", "[]"))
		write(t, file, entry("new", "a", "o", "[]"))
		later()
		if knows(a, "old") || !knows(a, "new") {
			t.Error("the old token is still known, or the new one is not")
		}
	})
	t.Run("a bad file keeps the tokens from before, until it is good again", func(t *testing.T) {
		a, file, later := open(t, entry("old", "a", "o", "[]"))
		write(t, file, "- {sha256: 12}\n")
		later()
		if !knows(a, "old") {
			t.Error("the token is not known any more")
		}
		write(t, file, entry("new", "a", "o", "[]"))
		later()
		if knows(a, "old") || !knows(a, "new") {
			t.Error("the repaired file was not taken up")
		}
	})
	t.Run("a file that is gone keeps the tokens from before", func(t *testing.T) {
		a, file, later := open(t, entry("old", "a", "o", "[]"))
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		later()
		if !knows(a, "old") {
			t.Error("the token is not known any more")
		}
	})
}

func TestBadTokensFiles(t *testing.T) {
	good := entry("t", "s", "o", "[]")
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":          {"- {", "f:1:"},
		"no list":          {"a: b\n", "f:1:"},
		"nothing in it":    {"", "no token in it"},
		"unknown member":   {good + "- {sha256: " + hash("u") + ", subject: s, owner: o, role: operator}\n", "f:2:"},
		"short hash":       {good + "- {sha256: abcd, subject: s, owner: o}\n", "f:2:3: sha256: write the 64 hex digits"},
		"no hash":          {"- {subject: s, owner: o}\n", "f:1:3: sha256"},
		"no subject":       {"- {sha256: " + hash("u") + ", owner: o}\n", "f:1:3: subject"},
		"no owner":         {"- {sha256: " + hash("u") + ", subject: s}\n", "f:1:3: owner"},
		"unknown role":     {"- {sha256: " + hash("u") + ", subject: s, owner: o, roles: [admin]}\n", `f:1:3: roles: "admin" is not a role`},
		"same token twice": {good + good, "f:2:3: sha256: another entry"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseTokens("f", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("expected one line with %q, got %v", c.want, err)
			}
		})
	}
}

func TestMissingTokensFileStopsTheStart(t *testing.T) {
	_, err := New(Setting{Method: MethodTokens, File: "/no/such/file"}, OIDC{}, quiet())
	if err == nil || !strings.Contains(err.Error(), "/no/such/file") {
		t.Fatalf("expected an error that names the file, got %v", err)
	}
}
