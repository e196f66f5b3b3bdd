package cluster

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// owners of the load's assets.
var owners = []string{"acme", "bolt"}

// load is what clients do to a cluster, and what is known of it afterwards.
type load struct {
	c *Cluster
	// Done is told of each call that was answered; nil: nobody.
	done func()

	mu    sync.Mutex
	facts invariants.Facts
	held  map[string]stores.Snapshot // asset and generation → what was written for it
}

func newLoad(c *Cluster) *load {
	return &load{c: c, done: func() {}, held: map[string]stores.Snapshot{},
		facts: invariants.Facts{Deletions: map[string]string{}, Truth: map[invariants.PartOf]invariants.Amount{}}}
}

// known is what must hold when everything is quiet.
func (l *load) known() invariants.Facts {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.facts
	f.Left = stores.Snapshot{}
	for _, s := range l.held {
		maps.Copy(f.Left, s)
	}
	return f
}

func (l *load) call(ctx context.Context, role Role, f func(api *client.Client) error) error {
	err := l.c.Call(ctx, role, f)
	l.done()
	return err
}

// create makes an asset, or changes its links when it is there already.
func (l *load) create(ctx context.Context, kind, id string, links ...dependency.LinkTo) (a dependency.Asset, err error) {
	size := int64(100 + len(id))
	put := dependency.Put{Kind: kind, Owner: owners[int(id[len(id)-1])%len(owners)], Bytes: &size, Links: &links}
	if links == nil {
		put.Links = &[]dependency.LinkTo{}
	}
	err = l.call(ctx, Dependency, func(api *client.Client) (err error) {
		a, _, err = api.PutAsset(ctx, id, put)
		return err
	})
	if err != nil {
		return a, fmt.Errorf("create %s: %w", id, err)
	}
	return a, nil
}

// fill gives a mesh two documents, a payload of three versions of two objects, and a thumbnail, once a generation.
func (l *load) fill(ctx context.Context, a dependency.Asset) error {
	name := a.ID + " " + a.Generation
	l.mu.Lock()
	filled := l.held[name] != nil
	l.mu.Unlock()
	if filled {
		return nil
	}
	held, size := stores.Snapshot{}, map[string]invariants.Amount{"description": {Documents: 1}, "note": {Documents: 1}}
	for part, place := range map[string][2]string{"description": {"descriptions", a.ID + "/" + a.Generation}, "note": {"notes", a.ID}} {
		err := l.call(ctx, Asset, func(api *client.Client) error {
			return api.PutDocument(ctx, a.ID, part, map[string]any{"text": part + " of " + name}, "")
		})
		if err != nil {
			return fmt.Errorf("write %s of %s: %w", part, a.ID, err)
		}
		s, err := l.c.Stores.Document(ctx, place[0], place[1])
		if err != nil || len(s) != 1 {
			return fmt.Errorf("document %v after it was written: %v, %w", place, s, err)
		}
		maps.Copy(held, s)
	}
	payload := "payload/" + a.ID + "/" + a.Generation + "/"
	for _, o := range [][2]string{{payload + "one.bin", "first"}, {payload + "one.bin", "second"}, {payload + "sub/two.bin", "two"}, {"thumbs/" + a.ID + ".png", "picture"}} {
		data := o[1] + " of " + name
		s, err := l.c.Stores.PutObject(ctx, o[0], data)
		if err != nil {
			return err
		}
		maps.Copy(held, s)
		part := "payload"
		if strings.HasPrefix(o[0], "thumbs/") {
			part = "thumbnail"
		}
		size[part] = invariants.Amount{Objects: size[part].Objects + 1, Bytes: size[part].Bytes + int64(len(data))}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[name] = held
	for part, amount := range size {
		l.facts.Truth[invariants.PartOf{Asset: a.ID, Generation: a.Generation, Part: part}] = amount
	}
	return nil
}

// delete asks for a deletion that takes these assets along, the root first. From then on nothing of them may be left.
func (l *load) delete(ctx context.Context, assets []dependency.Asset, r dependency.DeleteRequest) (d dependency.Deletion, err error) {
	root := assets[0]
	err = l.call(ctx, Dependency, func(api *client.Client) (err error) {
		d, err = api.Delete(ctx, root.ID, r)
		return err
	})
	if err != nil {
		return d, fmt.Errorf("delete %s: %w", root.ID, err)
	}
	l.accepted(d, assets...)
	return d, nil
}

// accepted notes a deletion that takes these assets along, the root first.
func (l *load) accepted(d dependency.Deletion, assets ...dependency.Asset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.Deletions[d.ID] = assets[0].ID
	for _, a := range assets {
		delete(l.held, a.ID+" "+a.Generation)
	}
}

// deletionOf gives a deletion with this root.
func (l *load) deletionOf(root string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.facts.Deletions {
		if r == root {
			return id
		}
	}
	return ""
}

// await waits until a deletion is done, and then looks whether it is true.
func (l *load) await(ctx context.Context, deletion string, assets []dependency.Asset) error {
	err := eventually(ctx, func() error {
		var d dependency.Deletion
		err := l.c.Call(ctx, Dependency, func(api *client.Client) (err error) {
			d, err = api.Deletion(ctx, deletion, "")
			return err
		})
		if err == nil && d.Status != dependency.Deleted {
			err = fmt.Errorf("deletion %s is %s: %+v", deletion, d.Status, d)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range assets {
		left, err := l.left(ctx, a)
		if err != nil || len(left) > 0 {
			return fmt.Errorf("G3: %s is deleted, and %v is there, %w", a.ID, left, err)
		}
	}
	return nil
}

// left is what the stores hold of an asset. Nobody may be writing for it.
func (l *load) left(ctx context.Context, a dependency.Asset) (stores.Snapshot, error) {
	left := stores.Snapshot{}
	for _, prefix := range []string{"payload/" + a.ID + "/", "thumbs/" + a.ID + ".png"} {
		s, err := l.c.Stores.Objects(ctx, prefix)
		if err != nil {
			return nil, err
		}
		maps.Copy(left, s)
	}
	for collection, id := range map[string]string{"descriptions": a.ID + "/" + a.Generation, "notes": a.ID} {
		s, err := l.c.Stores.Document(ctx, collection, id)
		if err != nil {
			return nil, err
		}
		maps.Copy(left, s)
	}
	return left, nil
}

// family is a client's work: an asset, one that needs it, one that is part of it, and one that mentions it; they live and
// are deleted several times. The last life of every fourth family goes on.
func (l *load) family(ctx context.Context, name string, random *rand.Rand) error {
	lives := 2 + random.IntN(2)
	stays := random.IntN(4) == 0
	for life := range lives {
		base, user, piece, err := l.populate(ctx, name)
		if err != nil {
			return err
		}
		if random.IntN(2) == 0 {
			if _, err := l.delete(ctx, []dependency.Asset{base}, dependency.DeleteRequest{}); problem.As(err) == nil || problem.As(err).Name != problem.HasDependants {
				return fmt.Errorf("G6: deleting %s, which %s needs: %v", base.ID, user.ID, err)
			}
		}
		if stays && life == lives-1 {
			return nil
		}
		if err := l.end(ctx, base, user, piece, random); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) populate(ctx context.Context, name string) (base, user, piece dependency.Asset, err error) {
	base, err = l.create(ctx, "mesh", name+"-base")
	if err != nil {
		return
	}
	if user, err = l.create(ctx, "mesh", name+"-user", dependency.LinkTo{Type: "DEPENDS_ON", To: base.ID}); err != nil {
		return
	}
	if piece, err = l.create(ctx, "mesh", name+"-piece", dependency.LinkTo{Type: "PART_OF", To: base.ID}); err != nil {
		return
	}
	if _, err = l.create(ctx, "bare", name+"-note", dependency.LinkTo{Type: "REFERENCES", To: base.ID}); err != nil {
		return
	}
	for _, a := range []dependency.Asset{base, user, piece} {
		if err = l.fill(ctx, a); err != nil {
			return
		}
	}
	return
}

// end deletes the family, all at once or one before the other, and waits for it.
func (l *load) end(ctx context.Context, base, user, piece dependency.Asset, random *rand.Rand) error {
	all := []dependency.Asset{base, user, piece}
	if random.IntN(2) == 0 {
		d, err := l.delete(ctx, all, dependency.DeleteRequest{WithDependants: true, Reason: "all"})
		if err != nil {
			return err
		}
		return l.await(ctx, d.ID, all)
	}
	first, err := l.delete(ctx, []dependency.Asset{user}, dependency.DeleteRequest{Reason: "user", IdempotencyKey: "user " + user.Generation})
	if err != nil {
		return err
	}
	second, err := l.delete(ctx, []dependency.Asset{base, piece}, dependency.DeleteRequest{Reason: "base", IfMatch: base.Generation})
	if err != nil {
		return err
	}
	if err := l.await(ctx, first.ID, []dependency.Asset{user}); err != nil {
		return err
	}
	return l.await(ctx, second.ID, []dependency.Asset{base, piece})
}
