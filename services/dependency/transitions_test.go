package dependency_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

func TestEachTransitionIsOneLineOfTheLogWithIDsAndWithoutContent(t *testing.T) {
	g, err := sqlite.Open(t.TempDir() + "/graph.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close(context.Background()) })
	var log bytes.Buffer
	b := benchWith(t, g, policyText, func(c *dependency.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	const secret = "classified\n{\"level\":\"ERROR\",\"msg\":\"forged\"}"
	const id = "scene/1 \u2028 \u202e🪦"
	put := func(kind, id string) {
		t.Helper()
		if _, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: kind, Attributes: map[string]any{"note": secret}}); err != nil {
			t.Fatal(err)
		}
	}
	put("item", id)
	ask := dependency.DeleteRequest{Reason: secret, TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
	d, err := b.Delete(b.ctx, id, ask)
	if err != nil {
		t.Fatal(err)
	}
	b.report(events.TypePartProgress, events.PartProgress{Deletion: d.ID, Asset: id, Generation: b.asset(id).Generation, Part: "note",
		Status: events.ProgressBlocked, Reason: "access-denied", Attempts: 1, LastError: secret})
	b.advance(2 * time.Hour)
	if err := b.TellStalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.erased(d, id, b.asset(id).Generation)
	put("slow", "later")
	later, err := b.Delete(b.ctx, "later", ask)
	if err == nil {
		_, err = b.Cancel(b.ctx, later.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"deletion requested " + d.ID, "deletion is blocked " + d.ID, "deletion is stalled " + d.ID, "part erased " + d.ID, "part erased " + d.ID,
		"asset erased " + d.ID, "deletion completed " + d.ID, "deletion requested " + later.ID, "deletion cancelled " + later.ID,
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		var told map[string]any
		if err := json.Unmarshal([]byte(line), &told); err != nil {
			t.Fatalf("a line that is none: %q", line)
		}
		if strings.Contains(line, "classified") || strings.Contains(line, "forged") {
			t.Errorf("content: %s", line)
		}
		if deletion, ok := told["deletion"].(string); ok {
			got = append(got, told["msg"].(string)+" "+deletion)
			if a := told["asset"]; a != id && a != "later" || told["by"] != "olga" || told["generation"] == "" {
				t.Errorf("ids: %s", line)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	traced := slices.ContainsFunc(b.events, func(f saga.Flag) bool {
		return strings.Contains(string(f.Message.Data), "completed") && strings.Contains(string(f.Message.Data), ask.TraceParent)
	})
	if !traced {
		t.Error("the feed does not carry the trace along")
	}
}
