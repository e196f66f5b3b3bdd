package asset_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// admitting lets everybody in, to an asset of this kind and generation.
func (w *world) admitting(kind, generation string) *asset.Service {
	w.gate.admit = func(a events.Admission) (events.Admitted, error) {
		return events.Admitted{Owner: a.Owner, Kind: kind, Generation: generation}, nil
	}
	return asset.NewService(w.config)
}

func admission(part string) events.Admission {
	return events.Admission{Asset: "a", Part: part, Owner: "acme", LeaseToken: "token"}
}

func TestADocumentIsWrittenAndReadAtItsPlace(t *testing.T) {
	w := newWorld(t)
	service := w.admitting("mesh", gen1)
	body := map[string]any{"title": "teapot", "size": map[string]any{"x": 1.5}}
	if err := service.PutDocument(t.Context(), admission("description"), body); err != nil {
		t.Fatal(err)
	}
	w.same("what is stored", w.documents.Snapshot(), map[string]string{
		"{collection:descriptions field:_id idType:string id:a/" + gen1 + "}": gen1 + ` {"size":{"x":1.5},"title":"teapot"}`,
	})
	got, err := service.GetDocument(t.Context(), admission("description"))
	if err != nil {
		t.Fatal(err)
	}
	w.same("document", got, body)
	write, read := admission("description"), admission("description")
	write.Write = true
	w.same("admissions", w.gate.admitted, []events.Admission{write, read})

	_, err = w.admitting("mesh", gen2).GetDocument(t.Context(), admission("description"))
	if !errors.Is(err, problem.NotFound) {
		t.Errorf("a document of another generation: %v, want not-found", err)
	}
}

func TestTheGatesRefusalIsTheAnswer(t *testing.T) {
	w := newWorld(t)
	service := w.admitting("mesh", gen1)
	for _, refusal := range []problem.Name{problem.NotFound, problem.Gone, problem.LeaseLost, problem.UnknownPart, problem.Unavailable} {
		w.gate.admit = func(events.Admission) (events.Admitted, error) {
			return events.Admitted{}, problem.New(refusal, "no")
		}
		if err := service.PutDocument(t.Context(), admission("description"), nil); !errors.Is(err, refusal) {
			t.Errorf("put: %v, want %s", err, refusal)
		}
		if _, err := service.GetDocument(t.Context(), admission("description")); !errors.Is(err, refusal) {
			t.Errorf("get: %v, want %s", err, refusal)
		}
	}
	w.same("what is stored", w.documents.Snapshot(), map[string]string{})
	w.same("calls of the store", w.probe.Calls("documents.Put")+w.probe.Calls("documents.Get"), 0)
}

func TestAWriteEndsWithItsLease(t *testing.T) {
	w := newWorld(t)
	service := w.admitting("mesh", gen1)
	w.gate.admit = func(a events.Admission) (events.Admitted, error) {
		return events.Admitted{Owner: a.Owner, Kind: "mesh", Generation: gen1, LeaseLeft: time.Millisecond}, nil
	}
	w.probe.Before = func(ctx context.Context, c memory.Call) error { // a store that hangs
		<-ctx.Done()
		return ctx.Err()
	}
	if err := service.PutDocument(t.Context(), admission("description"), nil); !errors.Is(err, problem.LeaseLost) {
		t.Errorf("a write that hangs: %v, want lease-lost", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := service.PutDocument(cancelled, admission("description"), nil); errors.Is(err, problem.LeaseLost) {
		t.Errorf("a caller that has left: %v", err)
	}
}

func TestAPartThatIsNoDocumentIsUnknown(t *testing.T) {
	w := newWorld(t)
	for kind, part := range map[string]string{"mesh": "payload", "scan": "unheard", "unheard": "info"} {
		service := w.admitting(kind, gen1)
		if err := service.PutDocument(t.Context(), admission(part), nil); !errors.Is(err, problem.UnknownPart) {
			t.Errorf("put %s of %s: %v, want unknown-part", part, kind, err)
		}
		if _, err := service.GetDocument(t.Context(), admission(part)); !errors.Is(err, problem.UnknownPart) {
			t.Errorf("get %s of %s: %v, want unknown-part", part, kind, err)
		}
	}
}

func TestFieldsThatCannotBeStoredAreNamed(t *testing.T) {
	w := newWorld(t)
	service := w.admitting("mesh", gen1)
	for field, body := range map[string]map[string]any{
		"_id":          {"_id": "x"},
		"generation":   {"generation": gen2},
		"$set":         {"$set": 1.0},
		"a.b":          {"a.b": 1.0},
		"a.":           {"a": map[string]any{"": 1.0}},
		"a.list[1].$x": {"a": map[string]any{"list": []any{nil, map[string]any{"$x": 1.0}}}},
		"null\x00byte": {"null\x00byte": true},
	} {
		err := service.PutDocument(t.Context(), admission("description"), body)
		if p := problem.As(err); p == nil || p.Name != problem.InvalidRequest || p.Field != field {
			t.Errorf("%v: %+v, want invalid-request at %q", body, err, field)
		}
	}
	w.same("what is stored", w.documents.Snapshot(), map[string]string{})
	inner := map[string]any{"inner": map[string]any{"_id": "x", "generation": "y"}}
	if err := service.PutDocument(t.Context(), admission("description"), inner); err != nil {
		t.Errorf("our names deeper inside: %v", err)
	}
}

func TestADocumentNestedTooDeepIsRefused(t *testing.T) {
	service := newWorld(t).admitting("mesh", gen1)
	for levels, want := range map[int]error{100: nil, 101: problem.InvalidRequest, 5000: problem.InvalidRequest} {
		var body any = "innermost"
		for range levels {
			body = map[string]any{"in": body}
		}
		err := service.PutDocument(t.Context(), admission("description"), body.(map[string]any))
		if !errors.Is(err, want) {
			t.Errorf("%d levels: %v, want %v", levels, err, want)
		}
	}
}

func TestAStoreThatCannotServeIsUnavailable(t *testing.T) {
	w := newWorld(t)
	service := w.admitting("mesh", gen1)
	for _, fault := range []error{errLost, &asset.Blocked{Reason: asset.ReasonAccessDenied}} {
		w.steps.set(func(context.Context, moment) error { return fault })
		putErr := service.PutDocument(t.Context(), admission("description"), nil)
		_, getErr := service.GetDocument(t.Context(), admission("description"))
		for _, err := range []error{putErr, getErr} {
			if !errors.Is(err, problem.Unavailable) || !errors.Is(err, fault) {
				t.Errorf("%v, want unavailable because of %v", err, fault)
			}
		}
	}
}

func TestALateWriteMeetsTheLaterGeneration(t *testing.T) {
	w := newWorld(t)
	w.write("infos", "a", gen2)
	before := w.stored()
	err := w.admitting("scan", gen1).PutDocument(t.Context(), admission("info"), map[string]any{"late": true})
	if !errors.Is(err, problem.Gone) {
		t.Errorf("put: %v, want gone", err)
	}
	w.same("what is stored", w.stored(), before)
}
