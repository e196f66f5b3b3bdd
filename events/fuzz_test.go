package events_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
)

// FuzzDecode: no input makes a decoder panic; an error is ErrUnreadable or ErrNewer; and what decodes is a fixed point: encoded again
// (which clips long texts) it decodes to itself.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(good))
	f.Add([]byte(`{"specversion":"1.0","":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		check(t, b, func(b []byte) (events.Envelope, any, error) { return anyOf(events.DecodeCommand(b)) })
		check(t, b, func(b []byte) (events.Envelope, any, error) { return anyOf(events.DecodeReport(b)) })
		check(t, b, func(b []byte) (events.Envelope, any, error) { return anyOf(events.DecodeEvent(b)) })
	})
}

func check(t *testing.T, b []byte, decode func([]byte) (events.Envelope, any, error)) {
	e, data, err := decode(b)
	if err != nil {
		if !errors.Is(err, events.ErrUnreadable) && !errors.Is(err, events.ErrNewer) {
			t.Fatalf("want ErrUnreadable or ErrNewer, got %v", err)
		}
		return
	}
	once := encodeAgain(t, e, data)
	e1, data1, err := decode(once)
	if err != nil {
		t.Fatalf("what was encoded again does not decode: %v\n%s", err, once)
	}
	e2, data2, err := decode(encodeAgain(t, e1, data1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, e1); diff != "" {
		t.Fatalf("envelope (-decoded +again):\n%s", diff)
	}
	if diff := cmp.Diff([]any{e1, data1}, []any{e2, data2}); diff != "" {
		t.Fatalf("not a fixed point (-want +got):\n%s", diff)
	}
	if len(b) < 4096 {
		if diff := cmp.Diff(data, data1); diff != "" {
			t.Fatalf("data (-decoded +again):\n%s", diff)
		}
	}
}

func encodeAgain(t *testing.T, e events.Envelope, data any) []byte {
	b, err := events.Encode(e, data)
	if err != nil {
		t.Fatalf("what decodes does not encode: %v\n%+v %+v", err, e, data)
	}
	return b
}
