package events_test

import (
	"time"

	"github.com/tombstone-project/tombstone/events"
)

const (
	deletion   = "0197a3c2-5b1e-7d44-9f00-000000000001"
	generation = "0197a3c2-0000-7000-8000-00000000000a"
	partGen    = "0197a3c2-1111-7000-8000-00000000000b"
)

var at = time.Date(2026, 3, 14, 15, 9, 26, 535_897_000, time.UTC)

// sample is one message that must encode and decode again to itself.
type sample struct {
	name     string // of its golden file
	envelope events.Envelope
	data     any
}

func envelope(source, eventType string) events.Envelope {
	return events.Envelope{ID: "0197a3c2-9999-7000-8000-00000000000c", Source: source, Type: eventType, Time: at}
}

func evidence(part string) events.PartEvidence {
	return events.PartEvidence{Part: part, Generation: partGen, Documents: 1, Objects: 12, Bytes: 34_567, Attempts: 2, SeenAbsentAt: at}
}

func samples() []sample {
	const dependency, asset = "/tombstone/dependency", "/tombstone/asset"
	until, next := at.Add(48*time.Hour), at.Add(time.Hour)
	traced := envelope(dependency, events.TypeErase)
	traced.TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	all := []sample{
		{"erase", traced, events.Erase{Deletion: deletion, Asset: "scene/1 ü <&>", Kind: "mesh", Owner: "acme", Generation: generation,
			By: "alice", Reason: "because of \"law\""}},
		{"erase-parts", envelope(dependency, events.TypeErase), events.Erase{Deletion: deletion, Asset: "🦊", Kind: "check", Owner: "acme",
			Generation: generation, Parts: map[string]string{"raw": partGen, "sbom": generation}, By: "retention", Reason: ""}},
		{"erase-recheck", envelope(dependency, events.TypeErase), events.Erase{Deletion: deletion, Asset: "a-1", Kind: "check", Owner: "acme",
			Generation: generation, Recheck: 1, By: "alice", Reason: "law"}},
		{"erase-again", envelope(dependency, events.TypeErase), events.Erase{Deletion: deletion, Asset: "a-1", Kind: "check", Owner: "acme",
			Generation: generation, Tried: 12, By: "alice", Reason: "law"}},
		{"part-erased", envelope(asset, events.TypePartErased), &events.PartErased{Deletion: deletion, Asset: "a-1", Generation: generation,
			PartEvidence: evidence("payload")}},
		{"asset-erased", envelope(asset, events.TypeAssetErased), &events.AssetErased{Deletion: deletion, Asset: "a-1", Generation: generation,
			Parts: []events.PartEvidence{evidence("description"), evidence("payload")}}},
		{"asset-erased-without-parts", envelope(asset, events.TypeAssetErased), &events.AssetErased{Deletion: deletion, Asset: "a-1",
			Generation: generation, Parts: []events.PartEvidence{}}},
		{"asset-erased-recheck", envelope(asset, events.TypeAssetErased), &events.AssetErased{Deletion: deletion, Asset: "a-1", Generation: generation,
			Parts: []events.PartEvidence{evidence("payload")}, Recheck: 2}},
		{"part-progress-recheck", envelope(asset, events.TypePartProgress), &events.PartProgress{Deletion: deletion, Asset: "a-1",
			Generation: generation, Status: events.ProgressRetry, Attempts: 3, LastError: "503", NextTry: &next, Recheck: 1}},
		{"part-progress", envelope(asset, events.TypePartProgress), &events.PartProgress{Deletion: deletion, Asset: "a-1", Generation: generation,
			Status: events.ProgressErasing}},
		{"part-progress-blocked", envelope(asset, events.TypePartProgress), &events.PartProgress{Deletion: deletion, Asset: "a-1",
			Generation: generation, Part: "payload", Status: events.ProgressBlocked, Reason: "object-lock", Until: &until, Attempts: 9,
			LastError: "AccessDenied", NextTry: &next}},
		{"event-part-erased", envelope(dependency, events.TypePartErased), audit(func(e *events.AuditEvent) {
			ev := evidence("payload")
			e.Part, e.Evidence = "payload", &ev
		})},
		{"event-asset-erased", envelope(dependency, events.TypeAssetErased), audit(nil)},
		{"event-deletion-requested", envelope(dependency, events.TypeDeletionRequested), audit(nil)},
		{"event-deletion-cancelled", envelope(dependency, events.TypeDeletionCancelled), audit(nil)},
		{"event-deletion-completed", envelope(dependency, events.TypeDeletionCompleted), audit(nil)},
		{"event-deletion-stalled", envelope(dependency, events.TypeDeletionStalled), audit(func(e *events.AuditEvent) { e.Detail = "no report for 1h" })},
		{"event-deletion-blocked", envelope(dependency, events.TypeDeletionBlocked), audit(func(e *events.AuditEvent) { e.Detail = "payload: object-lock" })},
	}
	return all
}

func audit(change func(*events.AuditEvent)) events.AuditEvent {
	e := events.AuditEvent{Sequence: 7, Deletion: deletion, Asset: "a-1", Generation: generation, By: "alice", Reason: "no longer needed"}
	if change != nil {
		change(&e)
	}
	return e
}

// decodeAs decodes by the stream that carries the type of data.
func decodeAs(b []byte, data any) (events.Envelope, any, error) {
	switch data.(type) {
	case events.Erase:
		return anyOf(events.DecodeCommand(b))
	case events.Report:
		return anyOf(events.DecodeReport(b))
	default:
		return anyOf(events.DecodeEvent(b))
	}
}

func anyOf[T any](e events.Envelope, data T, err error) (events.Envelope, any, error) {
	return e, data, err
}
