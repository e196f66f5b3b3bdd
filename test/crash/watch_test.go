package crash

import (
	"context"
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// observe checks, after each call, what holds at any time.
func (w *world) observe(c fault.Call) {
	switch c.Name() {
	case "graph.Update":
		if !strings.Contains(c.About, "Feed") { // it changes no asset
			w.lookAtNodes()
			w.broadcast()
		}
	case "documents.Delete", "blobs.Delete":
		w.checkUntouched()
	}
}

// lookAtNodes notes what may be erased now (G2 protects the rest), and looks whether what the graph calls deleted is gone (G3).
func (w *world) lookAtNodes() {
	w.looking.Lock()
	defer w.looking.Unlock()
	nodes, deletions := w.nodes()
	for _, h := range w.held() {
		n := nodes[h.asset]
		h.accepted = h.accepted || n.Generation != h.generation || n.Status != dependency.Live && deletions[n.Deletion].Status != dependency.Scheduled
		if !h.deleted && (n.Generation != h.generation || n.Status == dependency.Deleted) {
			h.deleted = true
			w.checkGone(h)
		}
	}
}

// checkUntouched is G2 and G7: what was not accepted for deletion is as it was.
func (w *world) checkUntouched() {
	w.looking.Lock()
	defer w.looking.Unlock()
	stored := w.stored()
	w.hasAll("of nobody", w.bystanders, stored)
	for _, h := range w.held() {
		if !h.accepted {
			w.hasAll("of "+h.asset+" "+h.generation, h.entries, stored)
		}
	}
}

func (w *world) hasAll(whose string, want, stored map[string]string) {
	for name, content := range want {
		if got, there := stored[name]; !there || got != content {
			w.violate("G2", "%s: %s is %q, was %q", whose, name, got, content)
			return
		}
	}
}

// checkGone is G3: nothing is left of what the graph calls deleted.
func (w *world) checkGone(h *holding) {
	stored := w.stored()
	for name, content := range h.entries {
		if got, there := stored[name]; there && got == content {
			w.violate("G3", "%s %s is deleted, and there is %s", h.asset, h.generation, name)
			return
		}
	}
}

func (w *world) held() []*holding {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*holding{}, w.holdings...)
}

// view reads in the graph itself, beside the processes.
func (w *world) view(read func(ctx context.Context, tx dependency.Tx) error) {
	ctx := context.Background()
	if err := w.graph.View(ctx, func(tx dependency.Tx) error { return read(ctx, tx) }); err != nil {
		panic(err)
	}
}

// nodes are the assets of the scenarios, with the deletions that they are or were taken by.
func (w *world) nodes() (nodes map[string]dependency.Node, deletions map[string]dependency.DeletionRecord) {
	w.view(func(ctx context.Context, tx dependency.Tx) (err error) {
		if nodes, err = tx.Nodes(ctx, []string{"a", "b"}); err != nil {
			return err
		}
		deletions, err = tx.Deletions(ctx, []string{nodes["a"].Deletion, nodes["b"].Deletion})
		return err
	})
	return nodes, deletions
}

// done tells whether all of these deletions are completed.
func (w *world) done(deletions ...string) (done bool) {
	w.view(func(ctx context.Context, tx dependency.Tx) error {
		records, err := tx.Deletions(ctx, deletions)
		done = true
		for _, id := range deletions {
			done = done && records[id].Status == dependency.Deleted
		}
		return err
	})
	return done
}

// settled tells whether nothing is under way any more, as far as the graph and the broker know.
func (w *world) settled() bool { return w.whatWaits() == "" }

// whatWaits says what is under way.
func (w *world) whatWaits() string {
	var waits []string
	w.view(func(ctx context.Context, tx dependency.Tx) error {
		commands, err := tx.Commands(ctx, dependency.CommandFilter{Limit: 100})
		if err != nil {
			return err
		}
		for _, c := range commands {
			waits = append(waits, fmt.Sprintf("flag %+v", c))
		}
		running, err := tx.ListDeletions(ctx, dependency.DeletionFilter{Statuses: []dependency.Status{dependency.Deleting, dependency.Scheduled}, Limit: 100})
		if err != nil {
			return err
		}
		for _, d := range running {
			waits = append(waits, fmt.Sprintf("deletion %+v", d))
		}
		unsent, err := tx.Unsent(ctx, farFuture, 100)
		for _, e := range unsent {
			waits = append(waits, "unsent entry "+e.Type)
		}
		return err
	})
	for _, s := range []events.Stream{w.names.Commands(), w.names.Reports()} {
		if len(waits) > 0 {
			break // that is enough to wait for
		}
		for _, m := range w.messages(s) {
			waits = append(waits, "message "+m.Subject)
		}
	}
	return strings.Join(waits, "; ")
}
