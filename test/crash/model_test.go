package crash

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// modelled is what a client knows of the assets a and b, of which b may need a: the small model that answers are held to.
// An asset whose deletion was accepted is dying until it lives again; whether it is gone already only the graph knows.
type modelled struct {
	*client
	kinds map[string]string
	lives map[string]*life // nil: never was there
	needs bool             // b has a link to a
	keys  int
	old   []request // that were accepted, in their order
}

// request is one with a key, and what it was answered with.
type request struct {
	id string
	dependency.DeleteRequest
	deletion string
}

type life struct {
	generation string
	dying      bool
	deletion   string // that it is dying by
}

func (m *modelled) live(id string) bool { return m.lives[id] != nil && !m.lives[id].dying }

// play does one step after the other, and then waits for every deletion.
func (m *modelled) play(c *client, steps []step) {
	m.client, m.lives, m.needs, m.keys, m.old = c, map[string]*life{}, false, 0, nil
	for _, s := range slices.Concat(steps, []step{{do: create, id: "a"}, {do: remove, id: "b"}, {do: remove, id: "a"}}) {
		if c.ctx.Err() != nil {
			return
		}
		m.step(s)
		m.w.checkUntouched()
	}
	for _, id := range []string{"a", "b"} {
		m.waitFor(id)
	}
}

func (m *modelled) step(s step) {
	switch s.do {
	case create:
		m.create(s.id, s.needs)
	case link, unlink:
		m.link(s.do == link)
	case remove:
		m.delete(s.id)
	case again:
		m.again(s.which)
	case takeBack:
		m.takeBack()
	case waitFor:
		m.waitFor(s.id)
	case relive:
		m.waitFor(s.id)
		m.create(s.id, false)
		m.late()
	case redeliver:
		m.w.mute(true)
		m.w.replay()
		m.rest(time.Second)
		m.w.mute(false)
	case wake:
		for _, p := range m.w.all() {
			p.Wake()
		}
	case rest:
		m.rest(s.rest)
	}
}

// create puts an asset: new, changed, or again. What is dying may be gone already, or not.
func (m *modelled) create(id string, needs bool) {
	size := int64(2)
	put := dependency.Put{Kind: m.kinds[id], Owner: owner, Bytes: &size, Links: &[]dependency.LinkTo{}}
	if needs {
		*put.Links = append(*put.Links, dependency.LinkTo{Type: "DEPENDS_ON", To: "a"})
	}
	was := m.lives[id]
	a, err := ask(m.client, func(ctx context.Context, s *dependency.Service) (dependency.Asset, error) {
		a, _, err := s.PutAsset(ctx, id, put)
		return a, err
	})
	switch {
	case m.ctx.Err() != nil:
	case err != nil:
		dying, noTarget := was != nil && was.dying, needs && !m.live("a")
		m.expect("create "+id, err, map[problem.Name]bool{problem.DeletionInProgress: dying,
			problem.LinkTargetDeleting: noTarget && m.lives["a"] != nil, problem.LinkTargetNotFound: noTarget && m.lives["a"] == nil})
	case needs && !m.live("a"):
		m.w.violate("G4", "b was created with a link to a, which is not live")
	case m.live(id):
		m.same("generation of "+id, a.Generation, was.generation)
		m.needs = m.needs && id != "b" || needs
	default:
		if was != nil && (!m.w.done(was.deletion) || a.Generation <= was.generation) {
			m.w.violate("G7", "%s lives again as %s after %s, whose deletion %s is done: %t", id, a.Generation, was.generation, was.deletion, m.w.done(was.deletion))
		}
		m.lives[id] = &life{generation: a.Generation}
		m.needs = m.needs && id != "b" || needs
		m.w.fill(m.kinds[id], id, a.Generation, 2)
	}
}

// link makes or removes the link from b to a: both must be live, or b live and a known.
func (m *modelled) link(make bool) {
	_, err := ask(m.client, func(ctx context.Context, s *dependency.Service) (any, error) {
		if make {
			return nil, s.Link(ctx, "b", "DEPENDS_ON", "a")
		}
		return nil, s.Unlink(ctx, "b", "DEPENDS_ON", "a")
	})
	possible := m.live("b") && (m.live("a") || !make && m.lives["a"] != nil)
	switch {
	case m.ctx.Err() != nil:
	case err != nil:
		m.expect("link", err, map[problem.Name]bool{problem.NotFound: m.lives["a"] == nil || m.lives["b"] == nil, problem.LinkTargetNotFound: m.lives["a"] == nil,
			problem.DeletionInProgress: m.lives["b"] != nil && !m.live("b"), problem.LinkTargetDeleting: m.lives["a"] != nil && !m.live("a")})
	case !possible:
		m.w.violate("G4", "a link from b to a was changed, b live: %t, a live: %t", m.live("b"), m.live("a"))
	default:
		m.needs = make
	}
	if possible && err != nil && m.ctx.Err() == nil {
		m.w.violate("G1", "link: %v", err)
	}
}

// delete asks for a deletion: refused while b needs a; the same one again while, and after, it runs.
func (m *modelled) delete(id string) {
	m.keys++
	r := dependency.DeleteRequest{Reason: "explored", IdempotencyKey: fmt.Sprint("key ", m.keys)}
	d, err := m.ask(id, r)
	was := m.lives[id]
	needed := id == "a" && m.needs && m.live("b") && m.live("a")
	switch {
	case m.ctx.Err() != nil:
	case err != nil:
		m.expect("delete "+id, err, map[problem.Name]bool{problem.NotFound: was == nil, problem.HasDependants: needed})
	case was == nil || needed:
		m.w.violate("G4", "%s was deleted; it was there: %t, b needs it: %t", id, was != nil, needed)
	case was.dying:
		m.same("the deletion of "+id, d.ID, was.deletion)
	default:
		if d.ID == was.deletion {
			m.w.violate("G1", "%s lives again, and its deletion is the old one", id)
		}
		was.dying, was.deletion = true, d.ID
		m.old = append(m.old, request{id, r, d.ID})
		m.w.accept(d.ID)
	}
}

func (m *modelled) ask(id string, r dependency.DeleteRequest) (dependency.Deletion, error) {
	return ask(m.client, func(ctx context.Context, s *dependency.Service) (dependency.Deletion, error) {
		return s.Delete(ctx, id, r)
	})
}

// again is a late repeat of an earlier request: its deletion, whatever has become of the asset.
func (m *modelled) again(which int) {
	if which >= len(m.old) {
		return
	}
	old := m.old[which]
	d, err := m.ask(old.id, old.DeleteRequest)
	if m.ctx.Err() == nil && (err != nil || d.ID != old.deletion) {
		m.w.violate("G5", "the key of deletion %s of %s gave %s, %v", old.deletion, old.id, d.ID, err)
	}
}

// takeBack cancels a's deletion, when its kind has a grace period: in time or not.
func (m *modelled) takeBack() {
	if a := m.lives["a"]; m.kinds["a"] == "slow" && a != nil && a.dying && m.cancel(a.deletion) {
		a.dying = false
	}
}

func (m *modelled) waitFor(id string) {
	if l := m.lives[id]; l != nil && l.dying {
		m.await(l.deletion)
	}
}

// expect wants a refusal to be one of those that may be.
func (m *modelled) expect(what string, err error, may map[problem.Name]bool) {
	if p := problem.As(err); p == nil || !may[p.Name] {
		m.w.violate("G6", "%s: %v, and that may not be", what, err)
	}
}

func (m *modelled) same(what, got, want string) {
	if got != want {
		m.w.violate("G5", "%s is %s, want %s", what, got, want)
	}
}

// repeats is G5 and G6 at the end: what was asked is asked again, and changes nothing.
func (m *modelled) repeats(w *world) {
	s, err := dependency.New(dependency.Config{Graph: w.graph, Policy: w.policy})
	if err != nil {
		panic(err)
	}
	before, ctx := w.dump(), operator(context.Background())
	for id, l := range m.lives {
		d, err := s.Delete(ctx, id, dependency.DeleteRequest{Reason: "explored", IfMatch: l.generation})
		if err != nil || d.ID != l.deletion {
			w.violate("G5", "deleting %s again gave %s, %v; want %s", id, d.ID, err, l.deletion)
		}
		_, err = s.Delete(ctx, id, dependency.DeleteRequest{IfMatch: "01900000-0000-7000-8000-000000000001"})
		m.client = &client{w, ctx}
		m.expect("delete another generation of "+id, err, map[problem.Name]bool{problem.GenerationMismatch: true})
	}
	w.same("G5/G6", "repeats and refusals changed the graph", before, w.dump())
}
