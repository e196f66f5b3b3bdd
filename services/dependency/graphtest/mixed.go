package graphtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// mixed is what many clients of two replicas do at once with a few assets of two owners.
type mixed struct {
	replicas [2]*rules
	assets   int
}

// testMixed puts links and children while deletions, cancels, re-creations, completions and erasures of an owner run, at
// random. Each call is done or refused; and whenever all is quiet no live asset has a link to a tombstone (G4), and the counters add up
// (G8).
func testMixed(t *testing.T, g dependency.Graph) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	m := mixed{replicas: [2]*rules{newRules(t, g), newRules(t, g)}, assets: 12}
	for round := range uint64(rounds(25)) {
		var clients []func()
		for client := range uint64(8) {
			clients = append(clients, func() {
				r := rand.New(rand.NewPCG(seed, round<<8|client))
				for range 12 {
					m.act(m.replicas[client%2], r)
				}
			})
		}
		together(clients...)
		m.check(t, g) // while nothing runs
	}
}

// act does one thing at random. A refusal is an answer.
func (m mixed) act(r *rules, random *rand.Rand) {
	id, other := m.id(random.IntN(m.assets)), m.id(random.IntN(m.assets))
	linkType := []string{needs, uses, "REFERENCES"}[random.IntN(3)]
	what := random.IntN(20)
	err := r.call(func(ctx context.Context) error {
		switch {
		case what < 6: // a new generation, too, of what is deleted
			links := []dependency.LinkTo{{Type: linkType, To: other}}
			if what < 2 {
				links = nil
			}
			_, _, err := r.PutAsset(ctx, id, dependency.Put{Kind: m.kind(id), Owner: m.owner(id), Links: &links})
			return err
		case what < 10:
			return r.Link(ctx, id, linkType, other)
		case what < 14:
			_, err := r.Delete(ctx, id, dependency.DeleteRequest{WithDependants: what%2 == 0})
			return err
		case what < 16:
			return m.reverse(ctx, r, id)
		case what < 19:
			return m.erase(ctx, r, id)
		}
		if _, err := r.DeleteOwner(ctx, dependency.OwnerRequest{Owner: m.owner(m.id(0))}); err != nil {
			return err
		}
		return r.DriveBatches(ctx)
	})
	if p := problem.As(err); err != nil && (p == nil || errors.Is(err, problem.Unavailable)) {
		r.t.Errorf("action %d on %s and %s: %v", what, id, other, err)
	}
}

func (mixed) id(n int) string { return fmt.Sprintf("mixed-%02d", n) }

// Owners of this test alone, as others leave assets in the same graph.
const leaving, staying = "mixed-leaving", "mixed-staying"

// kind and owner are those of an id for ever: each third asset is the leaving owner's, each second one has a grace period.
func (mixed) kind(id string) string  { return []string{"bare", "slow"}[id[len(id)-1]%2] }
func (mixed) owner(id string) string { return []string{leaving, staying, staying}[id[len(id)-1]%3] }

// reverse cancels the deletion that an asset goes with.
func (mixed) reverse(ctx context.Context, r *rules, id string) error {
	a, err := r.Asset(ctx, id)
	if err != nil || a.Status != dependency.Deleting {
		return err
	}
	_, err = r.Cancel(ctx, a.Deletion)
	return err
}

// erase reports that an asset is gone, which counts only past the point of no return.
func (mixed) erase(ctx context.Context, r *rules, id string) error {
	a, err := r.Asset(ctx, id)
	if err != nil || a.Status != dependency.Deleting {
		return err
	}
	data, err := events.Encode(events.Envelope{ID: newID(), Source: "/tombstone/asset", Type: events.TypeAssetErased, Time: time.Now()},
		events.AssetErased{Deletion: a.Deletion, Asset: a.ID, Generation: a.Generation, Parts: []events.PartEvidence{}})
	if err != nil {
		return err
	}
	return r.HandleReport(ctx, saga.Message{Data: data}, 1)
}

func (m mixed) check(t *testing.T, g dependency.Graph) {
	var ids []string
	for n := range m.assets {
		ids = append(ids, m.id(n))
	}
	found := read(t, g, func(ctx context.Context, tx dependency.Tx) (map[string]dependency.Node, error) {
		return tx.Nodes(ctx, ids)
	})
	links := read(t, g, func(ctx context.Context, tx dependency.Tx) ([]dependency.Link, error) { return tx.Outgoing(ctx, ids) })
	for _, l := range links {
		from, to := found[l.From], found[l.To]
		if l.Hidden == "" && from.Status == dependency.Live && to.Status != dependency.Live {
			t.Errorf("G4: %s is live and has the link %s to %s, which is %s", l.From, l.Type, l.To, to.Status)
		}
	}
	counted := map[string]int64{leaving: 0, staying: 0}
	for _, n := range found {
		if n.Status != dependency.Deleted {
			counted[n.Owner]++
		}
	}
	for owner, u := range usage(t, g, leaving, staying) {
		if u.Assets != counted[owner] {
			t.Errorf("G8: %s has %d assets, and %d are counted", owner, counted[owner], u.Assets)
		}
	}
}
