package dependency

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
)

// Whatever is sent as a cursor is refused, or means one place, which is written the same again.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("!")
	f.Add(encodeCursor("assets", "a/\u2028b"))
	f.Add(encodeCursor("audit", int64(7)))
	f.Add(encodeCursor("dependants", Link{From: "a", Type: "T", To: "b"}))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"l":"steps","a":-9e99}`)))
	f.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"l":"assets","a":{"$ne":""},"a":null}`)))
	f.Fuzz(func(t *testing.T, text string) {
		fuzzCursor(t, "assets", text, "")
		fuzzCursor(t, "audit", text, int64(0))
		fuzzCursor(t, "steps", text, -1)
		fuzzCursor(t, "dependants", text, Link{})
	})
}

func fuzzCursor[T any](t *testing.T, list, text string, fallback T) {
	t.Helper()
	got, err := decodeCursor(list, text, fallback)
	if err != nil {
		if !errors.Is(err, problem.InvalidRequest) {
			t.Fatalf("%s: %q: %v", list, text, err)
		}
		return
	}
	again, err := decodeCursor(list, encodeCursor(list, got), fallback)
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Fatalf("%s: %q: %v, %s", list, text, err, diff)
	}
	if _, err := decodeCursor("another", encodeCursor(list, got), fallback); err == nil {
		t.Fatalf("the cursor of %s is one of another list", list)
	}
}
