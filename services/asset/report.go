package asset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/saga"
)

// source names this service in every message of its own.
const source = "/tombstone/asset"

// report tells the graph how far the command is. When every part is seen to be absent, one message says so for all; else
// those that are get one each, and the error is that of the part that decides when the command comes again.
func (r *erasure) report(ctx context.Context) error {
	failed, finished := r.which((*part).failed), r.which((*part).finished)
	if len(failed) == 0 {
		evidence := make([]events.PartEvidence, len(finished))
		for i, p := range finished {
			evidence[i] = *p.evidence
		}
		return r.send(ctx, events.TypeAssetErased, r.sameID(events.TypeAssetErased, ""), events.AssetErased{
			Deletion: r.command.Deletion, Asset: r.command.Asset, Generation: r.command.Generation, Parts: evidence, Recheck: r.command.Recheck,
		})
	}
	if r.command.Recheck > 0 {
		return r.failure(ctx, failed) // a look is over as a whole or not at all
	}
	errs := make([]error, len(finished))
	each(len(finished), func(i int) { errs[i] = r.sendPart(ctx, finished[i]) })
	if err := worst(errs); err != nil {
		return err
	}
	return r.failure(ctx, failed)
}

func (r *erasure) sendPart(ctx context.Context, p *part) error {
	return r.send(ctx, events.TypePartErased, r.sameID(events.TypePartErased, p.name), events.PartErased{
		Deletion: r.command.Deletion, Asset: r.command.Asset, Generation: r.command.Generation, PartEvidence: *p.evidence,
	})
}

// failure gives the error of the part that decides when the command comes again: one that may pass soon, else the obstacle
// that ends first. The others are only told of.
func (r *erasure) failure(ctx context.Context, failed []*part) error {
	decisive := failed[0]
	for _, p := range failed[1:] {
		if sooner(p.err, decisive.err) {
			decisive = p
		}
	}
	for _, p := range failed {
		if p != decisive {
			r.tell(ctx, r.progressOf(p.name, p.err))
		}
	}
	return &partError{decisive.name, decisive.err}
}

// partError is an error of one part.
type partError struct {
	part string
	err  error
}

func (e *partError) Error() string { return fmt.Sprintf("part %s: %v", e.part, e.err) }
func (e *partError) Unwrap() error { return e.err }

// partOf is the part that an error is of; empty when it is one of the whole command.
func partOf(err error) string {
	var p *partError
	if errors.As(err, &p) {
		return p.part
	}
	return ""
}

// sooner tells whether what failed with a may be tried before what failed with b.
func sooner(a, b error) bool {
	x, y := AsBlocked(a), AsBlocked(b)
	if x == nil || y == nil {
		return x == nil && y != nil
	}
	return x.Until.Before(y.Until)
}

// tellInHand lets the graph hear of a long erasure often enough that it does not send the command again.
func (r *erasure) tellInHand(ctx context.Context) {
	if r.now().Sub(r.heard) < r.policy.ResendAfter/3 {
		return
	}
	r.heard = r.now()
	for _, p := range r.which((*part).active) {
		progress := r.progressOf(p.name, nil)
		progress.Status = events.ProgressErasing
		r.tell(ctx, progress)
	}
}

// tries counts the deliveries of this command and of those before it.
func (r *erasure) tries() int { return r.command.Tried + r.attempt }

// progressOf says what a part met: blocked by an obstacle, else failing.
func (r *erasure) progressOf(part string, err error) events.PartProgress {
	out := events.PartProgress{
		Deletion: r.command.Deletion, Asset: r.command.Asset, Generation: r.command.Generation, Part: part,
		Status: events.ProgressRetry, Attempts: r.tries(), Recheck: r.command.Recheck,
	}
	if err != nil {
		out.LastError = err.Error()
	}
	if blocked := AsBlocked(err); blocked != nil {
		out.Status, out.Reason, out.LastError = events.ProgressBlocked, string(blocked.Reason), blocked.Error()
		if !blocked.Until.IsZero() {
			out.Until = &blocked.Until
		}
	}
	return out
}

// tell sends a sign of life. One that is lost does no harm: the graph sends the command again, which changes nothing.
func (r *erasure) tell(ctx context.Context, progress events.PartProgress) {
	if err := r.send(ctx, events.TypePartProgress, newID(), progress); err != nil {
		r.log.WarnContext(ctx, "progress was not reported", "deletion", r.command.Deletion, "asset", r.command.Asset, "error", err)
	}
}

// send publishes one report and waits until the bus has it.
func (r *erasure) send(ctx context.Context, eventType, id string, data any) error {
	payload, err := events.Encode(events.Envelope{
		ID: id, Source: source, Type: eventType, Time: r.now().UTC(), TraceParent: r.envelope.TraceParent,
	}, data)
	if err != nil {
		return err
	}
	if err := r.stores.send(ctx, saga.Message{Subject: r.names.Report(eventType, r.command.Asset), Data: payload}); err != nil {
		return fmt.Errorf("publish the report: %w", err)
	}
	return nil
}

// sameID is the same for each repeat of the same fact.
func (r *erasure) sameID(eventType, part string) string {
	fact := strings.Join([]string{eventType, r.command.Deletion, r.command.Asset, part}, "\x00")
	if n := r.command.Recheck; n > 0 {
		fact += fmt.Sprintf("\x00%d", n)
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fact)).String()
}

// newID is a UUIDv7, which fails only without a source of randomness.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
