package storesrpc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/storesrpc"
	"github.com/tombstone-project/tombstone/services/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

var names = events.Names{Namespace: "stores-test"}

// look answers questions.
type look func(ctx context.Context, targets []events.Target) ([]events.Sight, error)

func (f look) Look(ctx context.Context, targets []events.Target) ([]events.Sight, error) {
	return f(ctx, targets)
}

func (f look) Survey(context.Context, events.Shelf) (events.Survey, error) {
	return events.Survey{}, errors.New("not asked here")
}

// broker starts a real server in this process and gives connections to it.
func broker(t *testing.T) func() *nats.Conn {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the broker does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return func() *nats.Conn {
		closed := make(chan struct{})
		nc, err := nats.Connect(s.ClientURL(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close(); <-closed })
		return nc
	}
}

// serve lends stores to a broker and dials them.
func serve(t *testing.T, stores dependency.Stores) *storesrpc.Client {
	t.Helper()
	return serveAnswers(t, storesrpc.Answers{Stores: stores})
}

func serveAnswers(t *testing.T, answers storesrpc.Answers) *storesrpc.Client {
	t.Helper()
	connect := broker(t)
	nc := connect()
	stop, err := storesrpc.Serve(nc, names, nil, answers, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return storesrpc.Dial(connect(), names, nil, patience)
}

// surveyor answers surveys.
type surveyor struct {
	dependency.Stores
	survey func(events.Shelf) (events.Survey, error)
}

func (s surveyor) Survey(_ context.Context, shelf events.Shelf) (events.Survey, error) {
	return s.survey(shelf)
}

func TestSurveysTravelWhole(t *testing.T) {
	shelf := events.Shelf{Bucket: "assets", Prefix: "payload/", After: "mark \x01"}
	survey := events.Survey{Next: "further", Lodgers: []events.Lodger{{Asset: "scene/🦊", Owner: "acme", Generation: "g-1", Kind: "mesh", Part: "payload",
		Bucket: "assets", Place: "payload/x/", Below: true, Things: 3, Bytes: 1 << 40, Written: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}}}
	var fail error
	client := serve(t, surveyor{survey: func(got events.Shelf) (events.Survey, error) {
		if diff := cmp.Diff(shelf, got); diff != "" {
			t.Errorf("shelf (-want +got):\n%s", diff)
		}
		return survey, fail
	}})
	got, err := client.Survey(t.Context(), shelf)
	if diff := cmp.Diff(survey, got); diff != "" || err != nil {
		t.Errorf("survey (-want +got):\n%s%v", diff, err)
	}
	fail = fmt.Errorf("%w: closed", problem.New(problem.ListingFailed, "the bucket is closed"))
	if _, err := client.Survey(t.Context(), shelf); !errors.Is(err, problem.ListingFailed) {
		t.Errorf("a listing that fails: %v", err)
	}
}

func TestTargetsAndSightsTravelWhole(t *testing.T) {
	target := events.Target{Asset: "scene/🦊", Kind: "mesh", Owner: "acme", Generation: "g-1", Parts: map[string]string{"raw": "g-2"},
		Attributes: map[string]any{"path": "a/b"}, Past: []string{"raw"}, After: "3 mark"}
	sight := events.Sight{Next: "4 ", Unseen: []events.Unseen{{Part: "raw", Reason: "bucket-missing", Detail: "b"}}, Found: []events.Thing{
		{Part: "note", Form: events.FormDocument, Collection: "notes", Key: "k"},
		{Part: "raw", Form: events.FormVersion, Bucket: "b", Key: "raw/\x01", Version: "v", Bytes: 1 << 40}}}
	client := serve(t, look(func(_ context.Context, got []events.Target) ([]events.Sight, error) {
		if diff := cmp.Diff([]events.Target{target}, got); diff != "" {
			t.Errorf("targets (-want +got):\n%s", diff)
		}
		return []events.Sight{sight}, nil
	}))
	got, err := client.Look(t.Context(), []events.Target{target})
	if diff := cmp.Diff([]events.Sight{sight}, got); diff != "" || err != nil {
		t.Errorf("sights (-want +got):\n%s%v", diff, err)
	}
	if got, err := client.Look(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no targets: %v, %v", got, err)
	}
}

func TestWhatDoesNotFitIntoAReplyIsAskedAgain(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	client := serve(t, look(func(_ context.Context, targets []events.Target) ([]events.Sight, error) {
		sights := make([]events.Sight, len(targets))
		for i, target := range targets {
			sights[i].Found = []events.Thing{{Key: target.Asset + big}}
		}
		return sights, nil
	}))
	var targets []events.Target
	for i := range 12 {
		targets = append(targets, events.Target{Asset: fmt.Sprint("a", i)})
	}
	for at := 0; at < len(targets); {
		sights, err := client.Look(t.Context(), targets[at:])
		if err != nil || len(sights) > 3 {
			t.Fatalf("%d sights, %v", len(sights), err)
		}
		for _, s := range sights {
			if !strings.HasPrefix(s.Found[0].Key, targets[at].Asset+"x") {
				t.Fatalf("sight %d is of %.10s", at, s.Found[0].Key)
			}
			at++
		}
	}
}

func TestRefusalsArriveAndNoAnswerIsUnavailable(t *testing.T) {
	client := serve(t, look(func(context.Context, []events.Target) ([]events.Sight, error) {
		return nil, fmt.Errorf("look: %w", problem.New(problem.Unavailable, "no").With("store", "blobs"))
	}))
	_, err := client.Look(t.Context(), []events.Target{{Asset: "a"}})
	if p := problem.As(err); p == nil || p.Name != problem.Unavailable || p.Members["store"] != "blobs" {
		t.Errorf("refusal: %v", err)
	}
	alone := storesrpc.Dial(broker(t)(), names, nil, patience)
	_, err = alone.Look(t.Context(), []events.Target{{Asset: "a"}})
	if p := problem.As(err); p == nil || p.Name != problem.Unavailable || p.Members["store"] != "asset service" {
		t.Errorf("nobody serves: %v", err)
	}
}

func TestACanaryIsPlantedThere(t *testing.T) {
	var planted []string
	var fail error
	client := serveAnswers(t, storesrpc.Answers{Plant: func(_ context.Context, asset string) error {
		planted = append(planted, asset)
		return fail
	}})
	if err := client.Plant(t.Context(), "tombstone-canary-🦊"); err != nil {
		t.Fatal(err)
	}
	fail = problem.New(problem.Unavailable, "closed")
	if err := client.Plant(t.Context(), "again"); !errors.Is(err, problem.Unavailable) {
		t.Errorf("a store that is away: %v", err)
	}
	if diff := cmp.Diff([]string{"tombstone-canary-🦊", "again"}, planted); diff != "" {
		t.Error(diff)
	}
}

func TestTheViewOfTheStoresTravelsWhole(t *testing.T) {
	view := events.StoresView{Buckets: []events.BucketView{{Bucket: "assets", Versioning: "enabled", ObjectLock: true, Replicated: true}},
		Findings: []events.StoreFinding{{Fatal: true, Reason: "versioning-off", Kind: "scan", Part: "raw", Bucket: "scans", Detail: "enable it"}}}
	bounded := false
	client := serveAnswers(t, storesrpc.Answers{View: func(ctx context.Context) (events.StoresView, error) {
		_, bounded = ctx.Deadline()
		return view, nil
	}})
	got, err := client.Stores(t.Context())
	if diff := cmp.Diff(view, got); diff != "" || err != nil || !bounded {
		t.Errorf("view: %v, bounded %t, (-want +got):\n%s", err, bounded, diff)
	}
	alone := storesrpc.Dial(broker(t)(), names, nil, patience)
	if _, err := alone.Stores(t.Context()); !errors.Is(err, problem.Unavailable) {
		t.Errorf("nobody serves: %v", err)
	}
}

func TestAnAssetServiceThatIsTooOldToTellIsToldFromNone(t *testing.T) {
	connect := broker(t)
	client := storesrpc.Dial(connect(), names, nil, patience)
	tooOld := func() any {
		t.Helper()
		_, err := client.Stores(t.Context())
		if !errors.Is(err, problem.Unavailable) {
			t.Fatalf("got %v", err)
		}
		return problem.As(err).Members[dependency.MemberTooOld]
	}
	if got := tooOld(); got != nil {
		t.Errorf("nobody there: too old %v", got)
	}
	nc := connect()
	nothing := func(context.Context, []byte) (any, error) { return map[string]any{"sights": []any{}}, nil }
	stop, err := rpc.Serve(nc, names, rpc.Service{Name: "stores", Endpoints: map[string]rpc.Handler{"look": nothing}, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}()
	if got := tooOld(); got != true {
		t.Errorf("an old one: too old %v", got)
	}
}
