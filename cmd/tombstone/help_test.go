package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// parser is one of a command line that nobody carries out.
func parser(t *testing.T) *kong.Kong {
	t.Helper()
	k, err := newParser(&program{ctx: t.Context(), out: io.Discard, err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// shellWords splits a line as a shell does, as far as our examples need it: quotes, comments, and the command of a pipe or a
// substitution that is ours.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "   # ")
	line = strings.NewReplacer("source <(", "", ")", "", "gunzip -c assets.ndjson.gz | ", "").Replace(line)
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		word, after, _ := strings.Cut(rest, " ")
		switch {
		case word == ">" || word == "|":
			return words
		case strings.HasPrefix(rest, `"`):
			inside, behind, closed := strings.Cut(rest[1:], `"`)
			if !closed {
				t.Fatalf("a quote is open in %q", line)
			}
			word, after = inside, behind
		}
		words, rest = append(words, word), after
	}
	return words
}

func TestEveryVerbHasExamplesThatCanBeTyped(t *testing.T) {
	k := parser(t)
	verbs := 0
	for _, verb := range k.Model.Leaves(true) {
		verbs++
		_, list, found := strings.Cut(verb.Detail, "Examples:\n\n")
		if !found {
			t.Errorf("%s --help has no examples", verb.FullPath())
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
			words := shellWords(t, line)
			parsed, err := parser(t).Parse(words[1:])
			switch {
			case err != nil:
				t.Errorf("%s: %q: %v", verb.FullPath(), line, err)
			case words[0] != "tombstone" || parsed.Selected().FullPath() != verb.FullPath():
				t.Errorf("%s: %q is an example of %s", verb.FullPath(), line, parsed.Selected().FullPath())
			}
		}
		help := tombstone(t, append(strings.Fields(verb.FullPath())[1:], "--help")...).done().stdout
		if !strings.Contains(help, "Examples:\n") {
			t.Errorf("%s --help does not show them:\n%s", verb.FullPath(), help)
		}
	}
	if verbs < 24 {
		t.Errorf("only %d verbs were found", verbs)
	}
}

// TestEveryVerbThatReadsHasJSON names those that have nothing to print but what they say while they run.
func TestEveryVerbThatReadsHasJSON(t *testing.T) {
	without := []string{"tombstone dev", "tombstone serve", "tombstone completion"}
	for _, verb := range parser(t).Model.Leaves(true) {
		has := slices.ContainsFunc(verb.Flags, func(f *kong.Flag) bool { return f.Name == "json" })
		if has == slices.Contains(without, verb.FullPath()) {
			t.Errorf("%s: --json is there: %v", verb.FullPath(), has)
		}
	}
}
