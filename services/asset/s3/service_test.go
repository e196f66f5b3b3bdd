package s3_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

const (
	generation  = "0197b1c0-0000-7000-8000-000000000001"
	regenerated = "0197b1c0-0000-7000-8000-000000000002"
)

// archive is a policy of every sort of place.
const archive = `
kinds:
  file:
    parts:
      body:    {blobs: {bucket: assets, prefix: "a/{id}/"}}
      preview: {blobs: {bucket: assets, prefix: "p/{id}/{generation}/"}}
      icon:    {blobs: {bucket: assets, key: "icons/{id}"}}
  kept:
    parts:
      body: {blobs: {bucket: assets, prefix: "k/{id}/", governance_bypass: true}}
`

// service is the asset service on a store of our own, with everything else in memory and a graph that wants all that it is
// asked.
type service struct {
	t      *testing.T
	server *s3test.Server
	config asset.Config

	mu      sync.Mutex
	reports []events.Report
}

func newService(t *testing.T, server *s3test.Server) *service {
	t.Helper()
	p, err := policy.Parse("test.yaml", []byte(archive))
	if err != nil {
		t.Fatal(err)
	}
	v := &service{t: t, server: server}
	probe := &memory.Probe{}
	v.config = asset.Config{
		Policy: p, Documents: memory.NewDocuments(probe), Ledger: memory.NewLedger(probe), Blobs: openOn(t, server),
		Gate: willing{}, Publisher: v, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	return v
}

// serviceOn starts a store with the bucket of the policy, and the service.
func serviceOn(t *testing.T) (*s3test.Server, *service) {
	t.Helper()
	server := s3test.Start(t)
	server.CreateBucket("assets", s3test.Enabled)
	return server, newService(t, server)
}

// willing is a graph that wants everything erased.
type willing struct{ asset.Gate }

func (willing) Current(_ context.Context, questions []events.Question) ([]events.Answer, error) {
	answers := make([]events.Answer, len(questions))
	for i, q := range questions {
		kind, _, _ := strings.Cut(q.Deletion, " ")
		answers[i] = events.Answer{Erase: true, Owner: "acme", Kind: kind}
	}
	return answers, nil
}

// Publish keeps the reports.
func (v *service) Publish(_ context.Context, messages []saga.Message) []error {
	v.mu.Lock()
	defer v.mu.Unlock()
	errs := make([]error, len(messages))
	for i, m := range messages {
		var report events.Report
		_, report, errs[i] = events.DecodeReport(m.Data)
		v.reports = append(v.reports, report)
	}
	return errs
}

// Purge is nothing here.
func (v *service) Purge(context.Context, []string) error { return nil }

// erase gives the command for an asset once, as after a start of the process. The error is what a worker decides by; then some
// time passes.
func (v *service) erase(kind, id string, attempt int) error {
	return v.eraseWithin(v.t.Context(), kind, id, attempt)
}

func (v *service) eraseWithin(ctx context.Context, kind, id string, attempt int) error {
	err := handle(ctx, asset.NewEraser(v.config), kind, id, attempt)
	if err != nil {
		v.server.Later(aWhile)
	}
	return err
}

// aWhile is longer than a call of a store may take.
const aWhile = 31 * time.Second

// handle gives a command to an eraser.
func handle(ctx context.Context, eraser *asset.Eraser, kind, id string, attempt int) error {
	envelope := events.Envelope{ID: "c", Source: "/tombstone/dependency", Type: events.TypeErase, Time: time.Now()}
	command := events.Erase{Deletion: kind + " " + id, Asset: id, Kind: kind, Owner: "acme", Generation: generation, By: "b", Reason: "r"}
	return eraser.Handle(ctx, envelope, command, attempt)
}

// erased wants an asset to be erased at once, and gives how many objects and bytes the report says.
func (v *service) erased(id string) (objects, bytes int64) {
	v.t.Helper()
	if err := v.erase("file", id, 1); err != nil {
		v.t.Fatalf("erase %q: %v", id, err)
	}
	return v.reported(id)
}

// reported is what the report of an erased asset says.
func (v *service) reported(id string) (objects, bytes int64) {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, report := range slices.Backward(v.reports) {
		if r, ok := report.(*events.AssetErased); ok && r.Asset == id {
			for _, p := range r.Parts {
				objects, bytes = objects+p.Objects, bytes+p.Bytes
			}
			return objects, bytes
		}
	}
	v.t.Fatalf("nothing was reported of %q", id)
	return 0, 0
}

// blocks wants an asset to wait for an obstacle.
func (v *service) blocks(kind, id string, reason asset.Reason) {
	v.t.Helper()
	_ = v.parked(kind, id, reason) // which fails the test
}

// parked wants an asset to wait for an obstacle, and gives it.
func (v *service) parked(kind, id string, reason asset.Reason) *saga.Parked {
	v.t.Helper()
	err := v.erase(kind, id, 1)
	var parked *saga.Parked
	if !errors.As(err, &parked) || parked.Reason != string(reason) {
		v.t.Fatalf("erase %q: %v, want blocked: %s", id, err, reason)
	}
	if cure := reason.Cure(); cure == "" || !strings.Contains(parked.Error(), cure) {
		v.t.Errorf("%v does not name the cure", parked)
	}
	return parked
}

// stored wants the bucket to hold exactly this.
func (v *service) stored(want ...string) {
	v.t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, v.server.Stored("assets"), cmpopts.EquateEmpty()); diff != "" {
		v.t.Errorf("what is stored (-want +got):\n%s", diff)
	}
}

func (v *service) counts(what string, objects, bytes, wantObjects, wantBytes int64) {
	v.t.Helper()
	if objects != wantObjects || bytes != wantBytes {
		v.t.Errorf("%s: %d objects of %d bytes reported, want %d of %d", what, objects, bytes, wantObjects, wantBytes)
	}
}
