package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/httpapi/apitest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/receipt"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestLookingAfterDeletions(t *testing.T) {
	c, s := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a/1", mesh)))
	d := must[dependency.Deletion](t)(c.Delete(ctx, "a/1", dependency.DeleteRequest{Reason: "law"}))
	s.Stall(d.ID, "no such bucket")
	x := must[dependency.Explanation](t)(c.Explain(ctx, d.ID))
	if x.Deletion != d.ID || !x.Stalled || len(x.Causes) != 1 || x.Causes[0].LastError != "no such bucket" {
		t.Errorf("explained: %+v", x)
	}
	if page := must[dependency.Page[dependency.Deletion]](t)(c.Stalled(ctx, "")); len(page.Items) != 1 || page.Items[0].ID != d.ID {
		t.Errorf("stalled: %+v", page)
	}
	drives := []dependency.Drive{{All: true, OlderThan: 90 * time.Second}, {Deletions: []string{d.ID}}}
	for _, drive := range drives {
		if got := must[dependency.Driven](t)(c.Retry(ctx, drive)); got.Driven != 1 {
			t.Errorf("driven: %+v", got)
		}
	}
	if diff := cmp.Diff(drives, s.Drives()); diff != "" {
		t.Error(diff)
	}
	forced := must[dependency.Deletion](t)(c.Force(ctx, d.ID, dependency.Force{Part: apitest.Part, Reason: "burned down"}))
	if forced.Status != dependency.Deleted || forced.Steps[0].Forced != "burned down" {
		t.Errorf("forced: %+v", forced)
	}
	if _, err := c.Force(ctx, d.ID, dependency.Force{Part: "zip", Reason: "x"}); !errors.Is(err, problem.UnknownPart) {
		t.Errorf("an unknown part: %v", err)
	}
	trail := must[dependency.Page[dependency.AuditItem]](t)(c.Audit(ctx, "a/1", ""))
	if len(trail.Items) != 2 || trail.Items[0].Type != events.TypeDeletionRequested || trail.Items[0].Reason != "law" {
		t.Errorf("trail: %+v", trail)
	}
	since := trail.Items[1].Time
	all := must[dependency.Page[dependency.AuditItem]](t)(c.AuditAll(ctx, time.Time{}, ""))
	late := must[dependency.Page[dependency.AuditItem]](t)(c.AuditAll(ctx, since, ""))
	if !cmp.Equal(trail.Items, all.Items) || !cmp.Equal(trail.Items[1:], late.Items) {
		t.Errorf("all trails: %+v, since %s: %+v", all, since, late)
	}
	if err := c.Pause(ctx, "a backup is restored"); err != nil {
		t.Error(err)
	}
	if x := must[dependency.Explanation](t)(c.Explain(ctx, d.ID)); !x.Paused {
		t.Error("the pause did not arrive")
	}
	if err := c.Resume(ctx); err != nil {
		t.Error(err)
	}
	if x := must[dependency.Explanation](t)(c.Explain(ctx, d.ID)); x.Paused {
		t.Error("the resuming did not arrive")
	}
}

func TestCancelHoldAndUsage(t *testing.T) {
	c, s := dial(t)
	s.Grace = time.Hour
	ctx := t.Context()
	size := int64(7)
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "..", dependency.Put{Kind: apitest.Kind, Owner: "a/b", Bytes: &size})))
	for _, reason := range []string{"law & order", ""} {
		if err := c.Hold(ctx, "..", reason); err != nil {
			t.Fatal(err)
		}
		if a := must[dependency.Asset](t)(c.Asset(ctx, "..")); a.Hold == nil || a.Hold.Reason != reason {
			t.Errorf("hold for %q: %+v", reason, a.Hold)
		}
	}
	if _, err := c.Delete(ctx, "..", dependency.DeleteRequest{}); !errors.Is(err, problem.OnHold) {
		t.Errorf("delete of a held asset: %v", err)
	}
	if err := c.Release(ctx, ".."); err != nil {
		t.Fatal(err)
	}
	d := must[dependency.Deletion](t)(c.Delete(ctx, "..", dependency.DeleteRequest{}))
	if got, want := must[dependency.UsageView](t)(c.Usage(ctx, "a/b")), (dependency.UsageView{Assets: 1, Bytes: 7, Pending: 7}); got != want {
		t.Errorf("usage: %+v", got)
	}
	if got := must[dependency.Deletion](t)(c.Cancel(ctx, d.ID)); got.Status != dependency.Cancelled {
		t.Errorf("cancelled: %+v", got)
	}
	if _, err := c.Cancel(ctx, "nobody"); !errors.Is(err, problem.NotFound) {
		t.Errorf("an unknown deletion: %v", err)
	}
	if err := c.Hold(ctx, "nobody", ""); !errors.Is(err, problem.NotFound) {
		t.Errorf("an unknown asset: %v", err)
	}
}

func TestDeletePart(t *testing.T) {
	c, _ := dial(t)
	must[dependency.Asset](t)(first(c.PutAsset(t.Context(), "a/1", mesh)))
	d := must[dependency.Deletion](t)(c.DeletePart(t.Context(), "a/1", apitest.Part, dependency.DeleteRequest{Wait: time.Second}))
	if d.Status != dependency.Deleted || len(d.Parts) != 1 || d.Parts[0] != apitest.Part {
		t.Errorf("deletion: %+v", d)
	}
	if a := must[dependency.Asset](t)(c.Asset(t.Context(), "a/1")); a.Status != dependency.Live || a.Parts[apitest.Part].Status != dependency.PartErased {
		t.Errorf("asset: %+v", a)
	}
	if _, err := c.DeletePart(t.Context(), "a/1", "a/b", dependency.DeleteRequest{}); !errors.Is(err, problem.UnknownPart) {
		t.Errorf("an unknown part: %v", err)
	}
}

func TestBatches(t *testing.T) {
	c, s := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a/1", dependency.Put{Kind: apitest.Kind, Owner: "acme"})))
	answer := must[dependency.SetAnswer](t)(c.DeleteSet(ctx, dependency.SetRequest{IDs: []string{"a/1", "nobody"}, Reason: "law"}))
	if r := answer.Results; len(r) != 2 || r[0].Deletion == nil || r[0].Deletion.Root != "a/1" || !errors.Is(r[1].Refusal, problem.NotFound) {
		t.Errorf("answer: %+v", answer)
	}
	if sets := s.Sets(); len(sets) != 1 || sets[0].Reason != "law" {
		t.Errorf("sets: %+v", sets)
	}
	b := must[dependency.Batch](t)(c.Batch(ctx, answer.Batch, ""))
	if b.ID != answer.Batch || b.Accepted != 1 || b.RefusedTotal != 1 || len(b.Refused) != 1 || b.Refused[0].ID != "nobody" || !errors.Is(b.Refused[0].Refusal, problem.NotFound) {
		t.Errorf("batch: %+v", b)
	}
	batch := must[string](t)(c.DeleteOwner(ctx, dependency.OwnerRequest{Owner: "acme", Reason: "leaves"}))
	if b := must[dependency.Batch](t)(c.Batch(ctx, batch, "")); b.Status != dependency.Deleting || b.Accepted != 1 {
		t.Errorf("batch of an owner: %+v", b)
	}
	if _, err := c.Batch(ctx, "nothing", ""); !errors.Is(err, problem.NotFound) {
		t.Errorf("an unknown batch: %v", err)
	}
}

func TestFollow(t *testing.T) {
	c, s := dial(t)
	s.Grace = time.Hour
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a", mesh)))
	d := must[dependency.Deletion](t)(c.Delete(ctx, "a", dependency.DeleteRequest{}))
	var types []string
	err := c.Follow(ctx, d.ID, func(item dependency.AuditItem) error {
		if types = append(types, item.Type); len(types) == 1 {
			_, err := c.Cancel(ctx, d.ID) // while the stream is open
			return err
		}
		return nil
	})
	if diff := cmp.Diff([]string{events.TypeDeletionRequested, events.TypeDeletionCancelled}, types); err != nil || diff != "" {
		t.Error(err, diff)
	}
	enough := errors.New("enough")
	if err := c.Follow(ctx, d.ID, func(dependency.AuditItem) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("a reader that has enough: %v", err)
	}
	if err := c.Follow(ctx, "nobody", nil); !errors.Is(err, problem.NotFound) {
		t.Errorf("an unknown deletion: %v", err)
	}
}

func TestFollowDoubtsStrangeStreams(t *testing.T) {
	for media, streams := range map[string]map[string]string{
		"text/event-stream": {"": "before its end", ": beat\n\n": "before its end", "data: {oops\n\n": "not as Tombstone does"},
		"application/json":  {"{}": "not as Tombstone does"},
		"text/html":         {"<html>": "not as Tombstone does"},
	} {
		for text, want := range streams {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", media)
				_, _ = w.Write([]byte(text))
			}))
			err := connect(t, server.URL, "").Follow(t.Context(), "d", nil)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), server.URL) {
				t.Errorf("%s %q: %v", media, text, err)
			}
			server.Close()
		}
	}
}

func TestOverviewAndChanges(t *testing.T) {
	c, _ := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a", mesh)))
	d := must[dependency.Deletion](t)(c.Delete(ctx, "a", dependency.DeleteRequest{}))
	if o := must[dependency.Overview](t)(c.Overview(ctx)); o.Requested != 1 || o.Deleting != 1 || o.Flags == nil || len(o.Activity) != 60 {
		t.Errorf("overview: %+v", o)
	}
	enough := errors.New("enough")
	err := c.Changes(ctx, func(change dependency.Change) error {
		if change.Deletion != d.ID || change.Root != "a" || change.Status != dependency.Deleting {
			t.Errorf("told: %+v", change)
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Errorf("a reader that has enough: %v", err)
	}
}

func TestReceipts(t *testing.T) {
	c, s := dial(t)
	ctx := t.Context()
	must[dependency.Asset](t)(first(c.PutAsset(ctx, "a/1", mesh)))
	d := must[dependency.Deletion](t)(c.Delete(ctx, "a/1", dependency.DeleteRequest{}))
	if _, err := c.Receipt(ctx, d.ID); !errors.Is(err, problem.NotDeleted) {
		t.Errorf("before the end: %v", err)
	}
	s.Finish(d.ID)
	text := must[string](t)(c.Receipt(ctx, d.ID))
	r, err := receipt.Verify(text, must[jose.JSONWebKeySet](t)(c.ReceiptKeys(ctx)))
	if err != nil || r.Deletion != d.ID || r.Root != "a/1" {
		t.Errorf("%+v, %v", r, err)
	}
}
