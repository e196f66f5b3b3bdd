package crash

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// wait is drive where calls come when they come: it starts anew what crashed, and looks every now and then.
func (w *world) wait(limit time.Duration, end func() bool) bool {
	over, tick := time.After(limit), time.NewTicker(40*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return false
		case <-tick.C:
		}
		if !w.revive() && end() {
			return true
		}
	}
}

// stop ends every process as SIGTERM does.
func (w *world) stop() {
	for _, p := range w.all() {
		p.Wake()
		p.stop()
	}
	for _, p := range w.all() {
		p.parts.Wait()
	}
}

// watched is the graph, behind what fails, that has its changes looked at when nobody gives turns.
func (w *world) watched(g dependency.Graph) dependency.Graph {
	if !w.free {
		return g
	}
	return watchedGraph{g, w}
}

type watchedGraph struct {
	dependency.Graph
	w *world
}

func (g watchedGraph) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	err := g.Graph.Update(ctx, fn)
	g.w.lookAtNodes()
	g.w.broadcast()
	return err
}

func (w *world) watchedDocuments() asset.Documents {
	if !w.free {
		return w.documents()
	}
	return watchedDocuments{w.documents(), w}
}

type watchedDocuments struct {
	asset.Documents
	w *world
}

func (d watchedDocuments) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	defer d.w.checkUntouched()
	return d.Documents.Delete(ctx, refs)
}

func (w *world) watchedBlobs() asset.Blobs {
	if !w.free {
		return w.blobs()
	}
	return watchedBlobs{w.blobs(), w}
}

type watchedBlobs struct {
	asset.Blobs
	w *world
}

func (b watchedBlobs) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	defer b.w.checkUntouched()
	return b.Blobs.Delete(ctx, bucket, versions)
}
