package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// deleted asks for a deletion and gives its id.
func deleted(t *testing.T, s *apitest.Service, id string) string {
	t.Helper()
	create(t, s, id)
	got := tombstone(t, "delete", id, "--reason", "law", "--json").done().values()
	did, _ := got[0]["id"].(string)
	return did
}

func TestExplain(t *testing.T) {
	s := serve(t)
	did := deleted(t, s, "a")
	s.Stall(did, "no such\nbucket")
	shown := tombstone(t, "explain", did).done().stdout
	for _, want := range []string{"waits for   its end", `last error  no such\u000abucket`, "may do      tombstone retry " + did, "stalled     yes",
		"ASSET  PART         STATUS", "a      description  erasing  3"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	if got := tombstone(t, "explain", did, "--json").done().values(); got[0]["last_error"] != "no such\nbucket" {
		t.Errorf("--json: %v", got)
	}
	tombstone(t, "explain", "nobody").fails(exitFailed, "not-found")
}

func TestCancel(t *testing.T) {
	s := serve(t)
	begun := deleted(t, s, "begun")
	s.Grace = time.Hour
	did := deleted(t, s, "a")
	if got := tombstone(t, "cancel", did).done().stdout; got != "a: cancelled, deletion "+did+"\n" {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "cancel", did, "--json").done().values(); got[0]["status"] != "cancelled" {
		t.Errorf("--json: %v", got)
	}
	tombstone(t, "cancel", begun).fails(exitFailed, "too-late")
}

// H-66.
func TestForce(t *testing.T) {
	s := serve(t)
	did := deleted(t, s, "a")
	tombstone(t, "force", did, "--part", apitest.Part).fails(exitUsage, "--reason")
	tombstone(t, "force", did, "--part", "zip", "--reason", "x").fails(exitFailed, "unknown-part")
	if got := tombstone(t, "force", did, "--part", apitest.Part, "--reason", "bucket gone").done().stdout; !strings.Contains(got, "a: deleted") {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "explain", did, "--json").done().values(); got[0]["status"] != "deleted" {
		t.Errorf("explain: %v", got)
	}
}

func TestAudit(t *testing.T) {
	s := serve(t)
	if got := tombstone(t, "audit", "a").done().stdout; got != "nothing was recorded\n" {
		t.Errorf("got %q", got)
	}
	s.Finish(deleted(t, s, "a"))
	lines := strings.Split(tombstone(t, "audit", "a").done().stdout, "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "TIME") || !strings.Contains(lines[1], "deletion.requested") || !strings.Contains(lines[1], "law") ||
		!strings.Contains(lines[2], "deletion.completed") {
		t.Errorf("got %q", lines)
	}
	if got := tombstone(t, "audit", "a", "--json").done().values(); len(got) != 1 || len(got[0]["items"].([]any)) != 2 {
		t.Errorf("--json: %v", got)
	}
}

func TestJSONActsOnNoTerminal(t *testing.T) {
	s := serve(t)
	create(t, s, "a")
	const reason = "\u009b2J and \u202e"
	tombstone(t, "delete", "a", "--reason", reason).done()
	for _, args := range [][]string{{"audit", "a", "--json"}, {"audit", "--all", "--ndjson"}} {
		r := tombstone(t, args...).done()
		if strings.ContainsAny(r.stdout, reason[:2]+"\u202e") || !strings.Contains(r.stdout, `\u009b2J and \u202e`) {
			t.Errorf("%v: %q", args, r.stdout)
		}
		got := r.values()[0]
		if items, ok := got["items"].([]any); ok {
			got, _ = items[0].(map[string]any)
		}
		if got["reason"] != reason {
			t.Errorf("%v says another reason: %q", args, got["reason"])
		}
	}
}

func TestAuditOfAllAssets(t *testing.T) {
	s := serve(t)
	for _, id := range []string{"a", "b"} {
		s.Finish(deleted(t, s, id))
	}
	lines := strings.Split(tombstone(t, "audit", "--all").done().stdout, "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "ASSET  TIME") || !strings.HasPrefix(lines[1], "a ") || !strings.HasPrefix(lines[4], "b ") {
		t.Errorf("got %q", lines)
	}
	var assets []any
	for _, item := range tombstone(t, "audit", "--all", "--since", "2020-01-01T00:00:00Z", "--ndjson").done().values() {
		assets = append(assets, item["asset"])
	}
	if diff := cmp.Diff([]any{"a", "a", "b", "b"}, assets); diff != "" {
		t.Error(diff)
	}
	if got := tombstone(t, "audit", "--all", "--since", "2999-01-01T00:00:00Z", "--ndjson").done().stdout; got != "" {
		t.Errorf("since another age: %q", got)
	}
	for _, args := range [][]string{{"a", "--all"}, {"a", "--since", "2026-01-01T00:00:00Z"}, {"--all", "--since", "yesterday"}, {"--all", "--json", "--ndjson"}} {
		tombstone(t, append([]string{"audit"}, args...)...).fails(exitUsage, "")
	}
}

func TestStalledAndRetry(t *testing.T) {
	s := serve(t)
	if got := tombstone(t, "stalled").done().stdout; got != "nothing is stalled\n" {
		t.Errorf("got %q", got)
	}
	did := deleted(t, s, "a")
	s.Stall(did, "no such bucket")
	if got := tombstone(t, "stalled").done().stdout; !strings.Contains(got, did) || !strings.Contains(got, "0 of 1") || !strings.Contains(got, "failing: no such bucket") {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "stalled", "--json").done().values(); len(got) != 1 || got[0]["items"] == nil {
		t.Errorf("--json: %v", got)
	}
	if got := tombstone(t, "retry", "--all", "--older-than", "1m").done().stdout; got != "1 deletion driven\n" {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "retry", did, "--json").done().values(); got[0]["driven"] != 1.0 {
		t.Errorf("--json: %v", got)
	}
	want := []dependency.Drive{{All: true, OlderThan: time.Minute}, {Deletions: []string{did}}}
	if diff := cmp.Diff(want, s.Drives()); diff != "" {
		t.Error(diff)
	}
}

func TestDrivingWhilePausedSaysWhyNothingWasDriven(t *testing.T) {
	s := serve(t)
	did := deleted(t, s, "a")
	tombstone(t, "pause", "--reason", "a restore").done()
	for _, verb := range []string{"retry", "replay"} {
		got := tombstone(t, verb, "--all").done().stdout
		if !strings.HasPrefix(got, "0 deletions driven\nphysical deletion is paused by anonymous since ") || !strings.HasSuffix(got, " (a restore); tombstone resume goes on\n") {
			t.Errorf("%s --all: %q", verb, got)
		}
		if got := tombstone(t, verb, did).done().stdout; got != "0 deletions driven\n"+did+": is deleting, and waits for: its end\n" {
			t.Errorf("%s: %q", verb, got)
		}
		for _, what := range []string{did, "--all"} {
			if got := tombstone(t, verb, what, "--json").done().values(); len(got) != 1 || got[0]["driven"] != 0.0 {
				t.Errorf("%s %s --json: %v", verb, what, got)
			}
		}
	}
}

func TestFlagState(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, f := range map[string]dependency.PendingFlag{
		"not due":       {DueAt: now.Add(time.Second), Cause: "next_try"},
		"being sent":    {DueAt: now, Claimed: true, Cause: "resend"},
		"waits: resend": {DueAt: now, Cause: "resend"},
		"waits":         {DueAt: now},
	} {
		if got := flagState(f, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWhyStalled(t *testing.T) {
	failing := dependency.AssetStep{Asset: "a", Step: dependency.Step{Part: "p", Status: dependency.StepErasing, LastError: "timeout"}}
	for want, d := range map[string]dependency.Deletion{
		"blocked: p of a: locked":                       {Blocked: &dependency.Blocked{Asset: "a", Part: "p", Reason: "locked"}, Steps: []dependency.AssetStep{failing}},
		"failing: timeout":                              {Stalled: true, Steps: []dependency.AssetStep{{Step: dependency.Step{Status: dependency.StepErased, LastError: "old"}}, failing}},
		"past its deadline":                             {Stalled: true, SentAt: &time.Time{}},
		"past its deadline; its command was never sent": {Stalled: true},
	} {
		if got := whyStalled(d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHoldAndRelease(t *testing.T) {
	s := serve(t)
	create(t, s, "-a\u202e")
	if got := tombstone(t, "hold", "--reason", "case 4711", "--", "-a\u202e").done().stdout; got != `-a\u202e: on hold until it is released`+"\n" {
		t.Errorf("got %q", got)
	}
	tombstone(t, "delete", "--", "-a\u202e").fails(exitFailed, "on-hold", "case 4711")
	if got := tombstone(t, "release", "--json", "--", "-a\u202e").done().stdout; got != "{}\n" {
		t.Errorf("--json of a 204: %q", got)
	}
	tombstone(t, "delete", "--", "-a\u202e").done()
	for _, verb := range []string{"hold", "release"} {
		tombstone(t, verb, "nobody").fails(exitFailed, "not-found")
	}
}

func TestPauseAndResume(t *testing.T) {
	s := serve(t)
	did := deleted(t, s, "a")
	if got := tombstone(t, "pause").done().stdout; !strings.HasPrefix(got, "paused: ") {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "explain", did).done().stdout; !strings.Contains(got, "paused     yes") {
		t.Errorf("got %q", got)
	}
	if got := tombstone(t, "resume", "--json").done().stdout; got != "{}\n" {
		t.Errorf("--json of a 204: %q", got)
	}
	if got := tombstone(t, "explain", did).done().stdout; strings.Contains(got, "paused") {
		t.Errorf("got %q", got)
	}
	s.Before = func(context.Context, string) error {
		return problem.New(problem.Unavailable, "the graph does not answer")
	}
	for _, verb := range []string{"pause", "resume"} {
		tombstone(t, verb).fails(exitFailed, "unavailable")
	}
}
