package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// screen is a terminal's text, which may be read while it is written.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// until polls until the screen has shown a text.
func (s *screen) until(ctx context.Context, text string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(s.String(), text) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func TestLongWorkShowsProgressOnATerminalOnly(t *testing.T) {
	for call, c := range map[string]struct {
		args  []string
		shows string
	}{
		"Verify":    {[]string{"verify"}, "verifying, "},
		"Retention": {[]string{"retention"}, "looking for what has expired, "},
		"Sweep":     {[]string{"sweep"}, "looking for orphans, "},
		"Plan":      {[]string{"delete", "a", "--dry-run"}, "looking into the stores, "},
		"Deletion":  {[]string{"delete", "a", "b", "--wait", "1m"}, "waiting, 0 of 2 deletions done, "},
	} {
		t.Run(call, func(t *testing.T) {
			s := serve(t)
			create(t, s, "a", "b")
			var seen screen
			s.Before = func(ctx context.Context, name string) error {
				if name != call {
					return nil
				}
				defer s.FinishAll()
				return seen.until(ctx, c.shows)
			}
			var out bytes.Buffer
			code := run(&program{ctx: t.Context(), out: &out, err: &seen, watched: true}, c.args)
			if code != exitDone || !strings.HasSuffix(seen.String(), "\r\x1b[K") || strings.Contains(out.String(), c.shows) {
				t.Errorf("exit %d, on the terminal %q, on standard output %q", code, seen.String(), out.String())
			}
			s.Before = nil
			tombstone(t, c.args...).done() // where nobody watches, nothing is shown
		})
	}
}

func TestAnImportShowsProgressOnATerminalOnly(t *testing.T) {
	serve(t)
	var seen screen
	var out bytes.Buffer
	code := run(&program{ctx: t.Context(), in: strings.NewReader(`{"id":"a","kind":"mesh"}`), out: &out, err: &seen, watched: true}, []string{"import", "-"})
	if code != exitDone || !strings.Contains(seen.String(), "importing") || out.String() != "1 created, 0 changed, 0 failed\n" {
		t.Errorf("exit %d, on the terminal %q, on standard output %q", code, seen.String(), out.String())
	}
}

// H-76: of several, one that fails makes the exit code 1, whatever the others do; what was done is told all the same, errors
// on standard error. A service that does not answer is 1 too, and never 0.
func TestOneOfManyThatFailsIsAFailure(t *testing.T) {
	s := serve(t)
	create(t, s, "a", "b", "c", "d", "e", "f")
	done, running := deleted(t, s, "done"), deleted(t, s, "running")
	s.Finish(done)
	for _, c := range []struct {
		args           []string
		stdout, stderr []string
	}{
		{[]string{"delete", "a", "nobody", "b"}, []string{"a: deleting", "b: deleting"}, []string{"nobody: not-found"}},
		{[]string{"delete", "a", "nobody", "b", "--json"}, []string{`"results"`}, []string{"nobody: not-found"}},
		{[]string{"delete", "c", "nobody", "d", "--part", "description"}, []string{"c: part description", "d: part description"}, []string{"nobody: not-found"}},
		{[]string{"delete", "e", "nobody", "f", "--dry-run"}, []string{"e: would delete", "f: would delete"}, []string{"nobody: not-found"}},
		{[]string{"delete", "e", "nobody", "f", "--dry-run", "--json"}, []string{`"assets"`}, []string{"nobody: not-found"}},
		{[]string{"retry", running, "no-such-deletion", done}, []string{"1 deletion driven", done + ": nothing to drive, it is deleted"}, []string{"no-such-deletion: not-found"}},
		{[]string{"replay", running, "no-such-deletion", "--json"}, []string{`"driven":1`}, []string{"no-such-deletion: not-found"}},
	} {
		r := tombstone(t, c.args...).fails(exitFailed, c.stderr...)
		for _, text := range c.stdout {
			if !strings.Contains(r.stdout, text) {
				t.Errorf("%s: no %q in %q", r.args, text, r.stdout)
			}
		}
	}
	if got := tombstone(t, "retry", running, done, done).done().stdout; got != "1 deletion driven\n"+done+": nothing to drive, it is deleted\n" {
		t.Errorf("what is finished is no failure: %q", got)
	}
	s.Violate(dependency.Violation{Guarantee: "G3", Asset: "a"})
	tombstone(t, "verify").fails(exitFailed, "1 violation")
}
