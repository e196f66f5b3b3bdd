package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
)

// asCommand makes the test binary the command, for shells that call it.
const asCommand = "TOMBSTONE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestCompletion(t *testing.T) {
	s := serve(t)
	running := deleted(t, s, "a")
	s.Finish(deleted(t, s, "b"))
	s.Grace = time.Hour
	scheduled := deleted(t, s, "c")
	for line, want := range map[string][]string{
		"re":                         {"receipt", "replay", "retry", "retention", "release", "resume"},
		"policy ":                    {"check"},
		"policy check ":              nil,
		"serve ":                     {"dependency", "asset", "all"},
		"serve all --policy ":        nil,
		"completion z":               {"zsh"},
		"delete --wi":                {"--with-dependants"},
		"delete a --reason ":         nil,
		"delete --with-dependants ":  nil,
		"explain ":                   {running, scheduled},
		"cancel ":                    {scheduled},
		"cancel x ":                  nil,
		"retry " + running + " ":     {running},
		"force " + running[:8]:       {running},
		"force --reason x --part y ": {running},
		"force -- ":                  {running},
		"no-such-verb ":              nil,
		"status delete ":             nil,
		"":                           nil,
	} {
		words := strings.Split(line, " ")
		got := strings.Fields(tombstone(t, append([]string{"complete", "--"}, words...)...).done().stdout)
		if line == "" {
			if !slices.Contains(got, "delete") || slices.Contains(got, "complete") {
				t.Errorf("at the beginning: %q", got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
	s.Before = func(context.Context, string) error { return problem.New(problem.Unavailable, "away") }
	if got := tombstone(t, "complete", "--", "explain", "").done().stdout; got != "" {
		t.Errorf("without the service: %q", got)
	}
}

// TestCompletionInShells lets each shell that is here complete with its script.
func TestCompletionInShells(t *testing.T) {
	s := serve(t)
	id := deleted(t, s, "a")
	for shell, script := range map[string]string{
		"bash": `source <(tombstone completion bash)
			try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tombstone; echo "${COMPREPLY[*]}"; }
			try tombstone expl; try tombstone explain ""; try tombstone import ""`,
		"zsh": `compdef() { registered=$1 }; compadd() { print -- "${(@P)2}" }; _files() { print }
			source <(tombstone completion zsh)
			try() { words=("$@"); CURRENT=$#; $registered }
			try tombstone expl; try tombstone explain ""; try tombstone import ""`,
		"fish": `tombstone completion fish | source
			complete -C "tombstone expl"; complete -C "tombstone explain "; cd (mktemp -d); echo (complete -C "tombstone import ")`,
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("skipped: there is no %s", shell)
			}
			call := `tombstone() { "$TOMBSTONE_TEST_BINARY" "$@"; }` + "\n"
			if shell == "fish" {
				call = "function tombstone; $TOMBSTONE_TEST_BINARY $argv; end\n"
			}
			command := exec.CommandContext(t.Context(), path, "-c", call+script)
			command.Env = append(os.Environ(), asCommand+"=1", "TOMBSTONE_TEST_BINARY="+os.Args[0], "HOME="+t.TempDir())
			out, err := command.CombinedOutput()
			if want := "explain\n" + id + "\n\n"; err != nil || string(out) != want {
				t.Errorf("%v, want %q, got %q", err, want, out)
			}
		})
	}
}
