package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"no-such-verb"}, {"delete"}, {"status"}, {"status", "a", "b"}, {"delete", "x", "--no-such-flag"}, {"delete", "x", "--wait", "soon"},
		{"delete", "x", "--wait=-1s"}, {"delete", "x", "y", "--if-plan", "hash"}, {"import"}, {"policy"}, {"policy", "check"}, {"serve"}, {"serve", "everything"},
		{"replay"}, {"replay", "x", "--all"}, {"replay", "x", "--older-than", "1m"}, {"replay", "--all", "--older-than=-1m"},
		{"retry"}, {"retry", "x", "--all"}, {"explain"}, {"cancel"}, {"cancel", "x", "y"}, {"audit"}, {"hold"}, {"release"}, {"hold", "a", "b"},
		{"pause", "x"}, {"resume", "x"}, {"stalled", "x"},
	} {
		tombstone(t, args...).fails(exitUsage, "--help")
	}
	for _, args := range [][]string{{"--help"}, {"delete", "--help"}, {"serve", "--help"}} {
		if r := tombstone(t, args...).done(); !strings.Contains(r.stdout, "Usage: tombstone") {
			t.Errorf("%v: %q", args, r.stdout)
		}
	}
}

func TestTokens(t *testing.T) {
	serve(t, func(cfg *httpapi.Config) {
		cfg.Auth = apitest.Callers{"secret": {Subject: "a", Owner: "o", Operator: true}}
	})
	tombstone(t, "pending").fails(exitFailed, "unauthenticated")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TOMBSTONE_TOKEN_FILE", file)
	tombstone(t, "pending").done()
	t.Setenv("TOMBSTONE_TOKEN", "secret")
	tombstone(t, "pending").fails(exitFailed, "TOMBSTONE_TOKEN_FILE", "both")
	t.Setenv("TOMBSTONE_TOKEN_FILE", "/no/such/file")
	t.Setenv("TOMBSTONE_TOKEN", "")
	tombstone(t, "pending").fails(exitFailed, "TOMBSTONE_TOKEN_FILE", "/no/such/file")
}

// H-76: a service that does not answer is a failure, with nothing on standard output.
func TestAServiceThatIsNotThere(t *testing.T) {
	t.Setenv("TOMBSTONE_URL", "http://127.0.0.1:1")
	for _, args := range [][]string{{"status", "x"}, {"delete", "x", "y"}, {"delete", "x", "--json"}, {"pending", "--json"}, {"doctor"}} {
		if r := tombstone(t, args...).fails(exitFailed, "127.0.0.1:1"); r.stdout != "" {
			t.Errorf("%v: stdout %q", args, r.stdout)
		}
	}
	tombstone(t, "status", "x", "--url", "nonsense").fails(exitFailed, "TOMBSTONE_URL", "http://HOST:PORT")
}

func TestRefusalsAreOneLineWhateverTheyHold(t *testing.T) {
	s := serve(t)
	s.Before = func(context.Context, string) error {
		return problem.New(problem.NotFound, "two\nlines \x1b[2J and a \u202e turn")
	}
	tombstone(t, "status", "x").fails(exitFailed, `two\u000alines \u001b[2J and a \u202e turn`)
}
