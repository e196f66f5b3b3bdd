package events_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
)

// What version 1 has sent may be on a stream when its successor starts: testdata/v1 is never written anew.
func TestMessagesOfVersion1AreReadForEver(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			message, err := os.ReadFile(filepath.Join("testdata", "v1", s.name+".json"))
			if err != nil {
				t.Skip("came later than version 1")
			}
			_, data, err := decodeAs(message, s.data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.data, data); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMessageOfALaterVersionIsTheirs(t *testing.T) {
	for _, name := range []string{"tombstone.erase.v2", "tombstone.asset.moved.v1", "tombstone.part.erased.v17"} {
		message := []byte(strings.Replace(good, "tombstone.erase.v1", name, 1))
		for stream, decode := range map[string]func([]byte) error{
			"commands": func(b []byte) error { _, _, err := events.DecodeCommand(b); return err },
			"reports":  func(b []byte) error { _, _, err := events.DecodeReport(b); return err },
			"events":   func(b []byte) error { _, _, err := events.DecodeEvent(b); return err },
		} {
			if err := decode(message); !errors.Is(err, events.ErrNewer) || errors.Is(err, events.ErrUnreadable) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s among the %s: %v", name, stream, err)
			}
		}
	}
	if _, _, err := events.DecodeCommand([]byte(`{"type":"tombstone.erase.v2"}`)); !errors.Is(err, events.ErrUnreadable) {
		t.Errorf("what is no event at all: %v", err)
	}
}
