package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReceipt(t *testing.T) {
	s := serve(t)
	did := deleted(t, s, "a")
	tombstone(t, "receipt", did).fails(exitFailed, "not-deleted")
	s.Finish(did)
	text := tombstone(t, "receipt", did).done().stdout
	if strings.Count(text, ".") != 2 || text != tombstone(t, "receipt", did, "--json").done().stdout {
		t.Errorf("got %q", text)
	}
	said := tombstone(t, "receipt", did, "--verify").done().stdout
	for _, want := range []string{"signature     verifies", "result        verified", "deletion      " + did, "description  verified  1"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}

	folder := t.TempDir()
	file, keys := filepath.Join(folder, "receipt.jws"), filepath.Join(folder, "jwks.json")
	published, err := s.ReceiptKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(published)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, text)
	write(keys, string(encoded))
	t.Setenv("TOMBSTONE_URL", "http://127.0.0.1:1") // offline
	if got := tombstone(t, "receipt", "--verify", "--file", file, "--keys", keys).done().stdout; got != said {
		t.Errorf("offline it says\n%s", got)
	}
	if got := tombstoneWith(t, text, "receipt", "--verify", "--file", "-", "--keys", keys).done().stdout; got != said {
		t.Errorf("from standard input it says\n%s", got)
	}
	parts := strings.Split(strings.TrimSpace(text), ".")
	write(file, parts[0]+"."+parts[1]+"x."+parts[2])
	tombstone(t, "receipt", "--verify", "--file", file, "--keys", keys).fails(exitFailed, "does not verify")
	for _, args := range [][]string{{"receipt"}, {"receipt", did, "--file", file}, {"receipt", "--file", file}, {"receipt", did, "--keys", keys}} {
		tombstone(t, args...).fails(exitUsage)
	}
}
