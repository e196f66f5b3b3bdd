package closures

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// A hub that 100,000 assets have a link to (5,000 with -short): what needs it is counted and the first hundred named, what
// would go along is too much, and what only mentions it is detached and cleared away when it is deleted.
func TestAHubWithManyLinks(t *testing.T) {
	count := 100_000
	if testing.Short() {
		count = 5000
	}
	g := onSQLite(t)
	s, ctx := serviceOn(t, g)
	needed, mentioned := hub(t, g, "DEPENDS_ON", count), hub(t, g, "REFERENCES", count)

	_, err := s.Delete(ctx, needed, dependency.DeleteRequest{})
	refusal := problem.As(err)
	if refusal == nil || refusal.Name != problem.HasDependants || refusal.Members["dependants_total"] != count || len(refusal.Members["dependants"].([]string)) != 100 {
		t.Fatalf("what needs it: %v", err)
	}
	if _, err := s.Delete(ctx, needed, dependency.DeleteRequest{WithDependants: true}); !errors.Is(err, problem.TooManyAssets) && count >= 10_000 {
		t.Errorf("with all that needs it: %v", err)
	}

	begun := time.Now()
	d, err := s.Delete(ctx, mentioned, dependency.DeleteRequest{})
	if err != nil || d.Assets.Total != 1 {
		t.Fatalf("what is only mentioned: %+v, %v", d.Assets, err)
	}
	accepted := time.Since(begun)
	report(t, s, d, mentioned)
	t.Logf("%d links: accepted in %v, completed %v later; peak memory %s", count, accepted, time.Since(begun)-accepted, peak())
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
	t.Helper()
	id = "hub of " + linkType
	now := time.Now().UTC()
	node := func(id string) dependency.Node {
		return dependency.Node{ID: id, Kind: "thing", Owner: "acme", Generation: uuid.Must(uuid.NewV7()).String(), Status: dependency.Live, CreatedAt: now, UpdatedAt: now}
	}
	const chunk = 1000
	for first := 0; first < count; first += chunk {
		nodes := []dependency.Node{node(id)}
		var links []dependency.Link
		for i := first; i < first+chunk; i++ {
			source := fmt.Sprintf("%s %06d", linkType, i)
			nodes, links = append(nodes, node(source)), append(links, dependency.Link{From: source, Type: linkType, To: id})
		}
		err := g.Update(t.Context(), func(tx dependency.Tx) error {
			return errors.Join(tx.SaveNodes(t.Context(), nodes), tx.SaveLinks(t.Context(), links))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// report says that all parts of the asset, of which it has none, are gone.
func report(t *testing.T, s *dependency.Service, d dependency.Deletion, id string) {
	t.Helper()
	ctx := dependency.WithCaller(t.Context(), dependency.Caller{Subject: "test", Owner: "acme", Operator: true})
	a, err := s.Asset(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	data, err := events.Encode(events.Envelope{ID: "r", Source: "/test", Type: events.TypeAssetErased, Time: time.Now().UTC()},
		events.AssetErased{Deletion: d.ID, Asset: id, Generation: a.Generation, Parts: []events.PartEvidence{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.HandleReport(t.Context(), saga.Message{Data: data}, 1); err != nil {
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
