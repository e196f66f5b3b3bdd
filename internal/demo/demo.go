// Package demo shows what Tombstone does on a small mesh library: it loads it, lets one deletion be refused, and follows
// others to their end.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tombstone-project/tombstone/examples/mesh"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// API is the part of the HTTP API that the demo calls.
type API interface {
	dependency.AssetsAPI
	dependency.DeletionsAPI
	PutDocument(ctx context.Context, id, part string, body map[string]any, leaseToken string) error
}

// Objects is the object store as other programs fill it.
type Objects interface {
	Put(ctx context.Context, bucket, key string, body io.Reader, size int64) error
}

// Demo is one show.
type Demo struct {
	API     API
	Objects Objects
	Policy  *policy.Policy
	Screen  Screen
	Seed    uint64
}

// outermost is the asset that nothing needs, so the first that goes.
const outermost = "clearing"

// Run loads the library and deletes some of it. After a run on the same data folder that came as far as the first deletion,
// the library is left as it is and nothing is deleted; one that ended while it was loading is loaded again.
func (d *Demo) Run(ctx context.Context) error {
	switch first, err := d.API.Asset(ctx, outermost); {
	case err == nil && first.Status != dependency.Live:
		d.Screen.Say("The mesh library is here already, from an earlier run; nothing is loaded or deleted.")
		return nil
	case err != nil && !errors.Is(err, problem.NotFound):
		return fmt.Errorf("look for the mesh library: %w", err)
	}
	if err := d.load(ctx, mesh.Library(d.Seed)); err != nil {
		return fmt.Errorf("load the mesh library: %w", err)
	}
	d.Screen.Say("")
	d.Screen.Say("Deleting the texture oak-bark, which two assets use:")
	if err := d.refused(ctx, "oak-bark"); err != nil {
		return err
	}
	// From the outside in: once nothing needs an asset any more, it may go.
	for _, step := range []struct{ id, why string }{
		{outermost, "the scene, which nothing needs"},
		{"oak", "the mesh that only this scene used"},
		{"fern", "another one"},
		{"forest-floor", "and its material"},
	} {
		d.Screen.Say("")
		d.Screen.Say("Deleting %s, %s:", step.id, step.why)
		if err := d.follow(ctx, step.id); err != nil {
			return err
		}
	}
	return nil
}

// load creates every asset with its document and its objects.
func (d *Demo) load(ctx context.Context, library []mesh.Asset) error {
	objects := 0
	bar := d.Screen.Progress("Loading a mesh library", len(library))
	for _, a := range library {
		n, err := d.create(ctx, a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.ID, err)
		}
		objects += n
		bar()
	}
	d.Screen.Say("Loaded %d assets: nodes and links in the graph, %d documents, %d object versions.", len(library), len(library), objects)
	return nil
}

func (d *Demo) create(ctx context.Context, a mesh.Asset) (objects int, err error) {
	links := []dependency.LinkTo{}
	for _, n := range a.Needs {
		links = append(links, dependency.LinkTo{Type: "DEPENDS_ON", To: n})
	}
	size := a.Bytes()
	created, _, err := d.API.PutAsset(ctx, a.ID, dependency.Put{Kind: a.Kind, Links: &links, Bytes: &size})
	if err != nil {
		return 0, err
	}
	if err := d.API.PutDocument(ctx, a.ID, "description", a.Document, ""); err != nil {
		return 0, err
	}
	for _, o := range a.Objects {
		if err := d.put(ctx, created, "payload", o.Name, o.Data); err != nil {
			return 0, err
		}
	}
	if len(a.Preview) > 0 {
		if err := d.put(ctx, created, "preview", "", a.Preview); err != nil {
			return 0, err
		}
		objects++
	}
	return objects + len(a.Objects), nil
}

// put writes one object at the place that the policy gives the part.
func (d *Demo) put(ctx context.Context, a dependency.Asset, part, name string, data []byte) error {
	kind, ok := d.Policy.Kind(a.Kind)
	if !ok {
		return fmt.Errorf("the policy has no kind %q", a.Kind)
	}
	p, ok := kind.Part(part)
	if !ok {
		return fmt.Errorf("kind %q has no part %q", a.Kind, part)
	}
	at, err := p.Location(policy.Subject{ID: a.ID, Owner: a.Owner, Kind: a.Kind, Generation: a.Generation})
	if err != nil {
		return err
	}
	return d.Objects.Put(ctx, at.Bucket, at.Key+at.Prefix+name, bytes.NewReader(data), int64(len(data)))
}

// refused shows a deletion that must not be accepted.
func (d *Demo) refused(ctx context.Context, id string) error {
	_, err := d.API.Delete(ctx, id, dependency.DeleteRequest{Reason: "demo"})
	p := problem.As(err)
	if p == nil || p.Name != problem.HasDependants {
		return fmt.Errorf("delete %s: want a refusal, got %v", id, err)
	}
	d.Screen.Say("  refused (%d %s): %s", p.Name.Status(), p.Name, p.Detail)
	return nil
}

// follow shows a deletion from the request to its end.
func (d *Demo) follow(ctx context.Context, id string) error {
	del, err := d.API.Delete(ctx, id, dependency.DeleteRequest{Reason: "demo"})
	if err != nil {
		return fmt.Errorf("delete %s: %w", id, err)
	}
	d.Screen.Say("  requested  %s (deletion %s)", id, del.ID)
	shown := map[string]string{}
	for {
		d.steps(del, shown)
		if del.Status == dependency.Deleted {
			d.Screen.Say("  completed  %s, %s after the request", id, del.CompletedAt.Sub(del.RequestedAt).Round(time.Millisecond))
			return nil
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		if del, err = d.API.Deletion(ctx, del.ID, ""); err != nil {
			return fmt.Errorf("read deletion of %s: %w", id, err)
		}
	}
}

// steps shows what changed since the last look.
func (d *Demo) steps(del dependency.Deletion, shown map[string]string) {
	for _, s := range del.Steps {
		now := s.Status
		if s.LastError != "" {
			now += ": " + s.LastError
		}
		if shown[s.Part] == now || now == dependency.StepWaiting {
			continue
		}
		shown[s.Part] = now
		if s.Status == dependency.StepErased {
			d.Screen.Say("  erased     %s: %d documents, %d object versions, %d bytes; seen to be absent", s.Part, s.Documents, s.Objects, s.Bytes)
		} else {
			d.Screen.Say("  %-10s %s", s.Status, s.Part)
		}
	}
}
