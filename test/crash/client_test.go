package crash

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// client is the one that asks for deletions. It repeats what it got no answer to.
type client struct {
	w   *world
	ctx context.Context
}

const owner = "acme"

func operator(ctx context.Context) context.Context {
	return dependency.WithCaller(ctx, dependency.Caller{Subject: "olga", Owner: owner, Operator: true})
}

// ask makes one request, again and again until there is an answer: success or a refusal. It gives nothing when the run is
// over.
func ask[R any](c *client, request func(ctx context.Context, s *dependency.Service) (R, error)) (answer R, err error) {
	for first := true; c.ctx.Err() == nil; first = false {
		if !first {
			c.w.note(asked)
			c.rest(c.w.askAgain)
		}
		s := c.w.serving()
		if s == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(operator(c.ctx), c.w.patience)
		answer, err = impatient(ctx, func() (R, error) { return request(ctx, s) })
		cancel()
		if p := problem.As(err); err == nil || p != nil && p.Name != problem.Unavailable {
			return answer, err
		}
	}
	return answer, nil
}

func (c *client) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
	}
}

// delete asks for a deletion with an Idempotency-Key and gives its id.
func (c *client) delete(id, key string) string {
	d, err := ask(c, func(ctx context.Context, s *dependency.Service) (dependency.Deletion, error) {
		return s.Delete(ctx, id, dependency.DeleteRequest{Reason: "explored", IdempotencyKey: key})
	})
	switch {
	case err != nil:
		c.w.violate("G1", "delete %s: %v", id, err)
	case c.ctx.Err() == nil:
		c.w.accept(d.ID)
	}
	return d.ID
}

// cancel takes a deletion back; false when it is too late.
func (c *client) cancel(deletion string) bool {
	_, err := ask(c, func(ctx context.Context, s *dependency.Service) (dependency.Deletion, error) {
		return s.Cancel(ctx, deletion)
	})
	if p := problem.As(err); p != nil && p.Name == problem.TooLate || c.ctx.Err() != nil {
		return false
	}
	if err != nil {
		c.w.violate("G1", "cancel %s: %v", deletion, err)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.cancelled[deletion] = true
	return true
}

// await waits until the graph says that the deletions are done.
func (c *client) await(deletions ...string) {
	for c.ctx.Err() == nil {
		change := c.w.change()
		if c.w.done(deletions...) {
			return
		}
		select {
		case <-change:
		case <-c.ctx.Done():
		}
	}
}

// refused asks for a deletion that must be refused, and change nothing (G6).
func (c *client) refused(id string, want problem.Name) {
	before := c.w.dump()
	_, err := ask(c, func(ctx context.Context, s *dependency.Service) (dependency.Deletion, error) {
		return s.Delete(ctx, id, dependency.DeleteRequest{})
	})
	if c.ctx.Err() != nil {
		return
	}
	if p := problem.As(err); p == nil || p.Name != want {
		c.w.violate("G6", "got %v, want the refusal %s", err, want)
	}
	c.w.same("G6", "a refusal changed the graph", before, c.w.dump())
}

// refusedLink asks for a link that must not be made (G4).
func (c *client) refusedLink(from, to string, want problem.Name) {
	links := []dependency.LinkTo{{Type: "DEPENDS_ON", To: to}}
	_, err := ask(c, func(ctx context.Context, s *dependency.Service) (string, error) {
		a, _, err := s.PutAsset(ctx, from, dependency.Put{Kind: "mesh", Owner: owner, Links: &links})
		return a.ID, err
	})
	if p := problem.As(err); c.ctx.Err() == nil && (p == nil || p.Name != want) {
		c.w.violate("G4", "link to %s: got %v, want %s", to, err, want)
	}
}

// createAgain puts an asset that was deleted, and its data.
func (c *client) createAgain(kind, id string, objects int) {
	size := int64(objects)
	a, err := ask(c, func(ctx context.Context, s *dependency.Service) (dependency.Asset, error) {
		a, _, err := s.PutAsset(ctx, id, dependency.Put{Kind: kind, Owner: owner, Bytes: &size})
		return a, err
	})
	switch {
	case err != nil:
		c.w.violate("G1", "create %s again: %v", id, err)
	case c.ctx.Err() == nil:
		c.w.fill(kind, id, a.Generation, objects)
	}
}

// late lets everything that is late come now, while the asset that was created again is live.
func (c *client) late() {
	c.w.mute(true)
	defer c.w.mute(false)
	for _, p := range c.w.all() {
		p.Wake()
	}
	c.rest(c.w.whole)
	c.w.replay()
	c.rest(c.w.whole)
}
