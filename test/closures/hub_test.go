package closures

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// fullSize makes the tests of hubs and of owners as large as docs/performance.md tells; they take minutes then.
var fullSize = os.Getenv("TOMBSTONE_CLOSURES") == "full"

func TestAHubWithManyLinksOnSQLite(t *testing.T) {
	count := 100_000
	if testing.Short() {
		count = 5000
	}
	aHub(t, onSQLite(t), count)
}

func TestAHubWithManyLinksOnNeo4j(t *testing.T) {
	count := 5000
	if fullSize {
		count = 100_000
	}
	aHub(t, onNeo4j(t), count)
}

// aHub has assets that so many have a link to: what needs one is counted and the first hundred named, what would go along is
// too much, and what only mentions one is detached and cleared away when it is deleted.
func aHub(t *testing.T, g dependency.Graph, count int) {
	s, ctx := serviceOn(t, g)
	needed, mentioned := hub(t, g, "DEPENDS_ON", count), hub(t, g, "REFERENCES", count)

	begun := time.Now()
	lap := func() time.Duration {
		took := time.Since(begun)
		begun = begun.Add(took)
		return took.Round(time.Millisecond)
	}
	_, err := s.Delete(ctx, needed, dependency.DeleteRequest{})
	refusal := problem.As(err)
	if refusal == nil || refusal.Name != problem.HasDependants || refusal.Members["dependants_total"] != count || len(refusal.Members["dependants"].([]string)) != 100 {
		t.Fatalf("what needs it: %v", err)
	}
	refused := lap()
	if _, err := s.Delete(ctx, needed, dependency.DeleteRequest{WithDependants: true}); !errors.Is(err, problem.TooManyAssets) && count >= 10_000 {
		t.Errorf("with all that needs it: %v", err)
	}
	tooMany := lap()

	d, err := s.Delete(ctx, mentioned, dependency.DeleteRequest{})
	if err != nil || d.Assets.Total != 1 {
		t.Fatalf("what is only mentioned: %+v, %v", d.Assets, err)
	}
	accepted := lap()
	a, err := s.Asset(ctx, mentioned)
	if err != nil {
		t.Fatal(err)
	}
	report(t, s, d.ID, dependency.PlannedAsset{ID: mentioned, Generation: a.Generation})
	t.Logf("%d links: refused in %v, with all of them in %v; accepted in %v, completed %v later; peak memory %s", count, refused, tooMany, accepted, lap(), peak())
	done, err := s.Deletion(ctx, d.ID, "")
	if err != nil || done.Status != dependency.Deleted {
		t.Errorf("the deletion is %s, %v", done.Status, err)
	}
	left, err := s.Dependants(ctx, mentioned, "")
	if err != nil || len(left.Items) != 0 || left.NextCursor != "" {
		t.Errorf("%d links are left, %v", len(left.Items), err)
	}
}

// hub makes an asset to which so many others have a link.
func hub(t *testing.T, g dependency.Graph, linkType string, count int) (id string) {
	ids := grow(t, g, "thing", count+1, func(ids []string, i int) dependency.Link {
		return dependency.Link{From: ids[i], Type: linkType, To: ids[0]}
	})
	return ids[0]
}

// reportsInHand is as many as a worker has.
const reportsInHand = 256

// report says that all parts of assets, of which they have none, are gone.
func report(t testing.TB, s *dependency.Service, deletion string, assets ...dependency.PlannedAsset) {
	t.Helper()
	var all errgroup.Group
	all.SetLimit(reportsInHand)
	for _, a := range assets {
		data, err := events.Encode(events.Envelope{ID: "r", Source: "/test", Type: events.TypeAssetErased, Time: time.Now().UTC()},
			events.AssetErased{Deletion: deletion, Asset: a.ID, Generation: a.Generation, Parts: []events.PartEvidence{}})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() error { return s.HandleReport(t.Context(), saga.Message{Data: data}, 1) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
}

// peak is the largest memory that this process had.
func peak() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown on " + runtime.GOOS
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
