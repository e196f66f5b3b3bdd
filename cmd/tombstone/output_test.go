package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// small is a disk with little room.
type small struct {
	bytes.Buffer
	room int
}

func (s *small) Write(b []byte) (int, error) {
	if s.Len()+len(b) > s.room {
		n, _ := s.Buffer.Write(b[:s.room-s.Len()])
		return n, errors.New("no space left on device")
	}
	return s.Buffer.Write(b)
}

// H-76: an output that is cut off is never taken for a whole one, whatever the command and its form.
func TestACommandWhoseOutputIsCutOffFails(t *testing.T) {
	s := serve(t)
	create(t, s, "a", "b")
	tombstone(t, "delete", "b").done()
	for _, args := range [][]string{
		{"audit", "--all", "--ndjson"}, {"audit", "--all"}, {"audit", "b", "--json"}, {"status", "a"}, {"status", "a", "--json"}, {"pending"}, {"stalled", "--json"},
		{"version"}, {"version", "--json"}, {"doctor"}, {"retention"}, {"sweep"}, {"verify"}, {"--help"}, {"audit", "--help"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			whole := tombstone(t, args...)
			if whole.code != exitDone || whole.stdout == "" {
				t.Fatalf("with room: exit %d, %q, %q", whole.code, whole.stdout, whole.err)
			}
			for _, room := range []int{0, len(whole.stdout) / 2, len(whole.stdout) - 1} {
				disk, complaints := &small{room: room}, bytes.Buffer{}
				code := run(&program{ctx: t.Context(), in: strings.NewReader(""), out: disk, err: &complaints}, args)
				if code != exitFailed || !strings.Contains(complaints.String(), "the output is not whole: no space left on device") {
					t.Errorf("room for %d of %d bytes: exit %d, %q", room, len(whole.stdout), code, complaints.String())
				}
			}
		})
	}
}

// A list is not read on when nobody can have it.
func TestNothingIsReadForAnOutputThatIsCutOff(t *testing.T) {
	s := serve(t)
	create(t, s, "a", "b", "c", "d")
	tombstone(t, "delete", "a", "b", "c", "d").done()
	pages := 0
	s.Before = func(_ context.Context, call string) error {
		if call == "AuditAll" {
			pages++
		}
		return nil
	}
	tombstone(t, "audit", "--all", "--ndjson").done()
	if pages < 2 {
		t.Fatalf("%d pages", pages)
	}
	pages = 0
	code := run(&program{ctx: t.Context(), in: strings.NewReader(""), out: &small{room: 50}, err: &bytes.Buffer{}}, []string{"audit", "--all", "--ndjson"})
	if code != exitFailed || pages != 1 {
		t.Errorf("exit %d after %d pages", code, pages)
	}
}
