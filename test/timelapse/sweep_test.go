package timelapse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// writers create assets while sweeps run, and remember what has to be there at the end.
type writers struct {
	*world
	r    *replica
	rand *rand.Rand

	mu   sync.Mutex
	want map[string]string // contents of live assets, by what they are
}

// between is a random time.
func (w *writers) between(from, to time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return from + time.Duration(w.rand.Int64N(int64(to-from)))
}

// object puts one object.
func (w *writers) object(bucket, key, content string) {
	if err := w.blobs.Put(w.ctx, bucket, key, strings.NewReader(content), int64(len(content))); err != nil {
		w.Errorf("put %s: %v", key, err)
	}
}

// live notes what has to be there.
func (w *writers) live(contents ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range contents {
		w.want[c] = c
	}
}

// put creates an asset in the graph.
func (w *writers) put(kind, id string) (generation string) {
	a, _, err := w.r.PutAsset(w.ctx, id, dependency.Put{Kind: kind})
	if err != nil {
		w.Errorf("create %s: %v", id, err)
	}
	return a.Generation
}

// mesh creates an asset the usual way: the graph, then slowly what belongs to it.
func (w *writers) mesh(id string) {
	generation := w.put("mesh", id)
	pause := func() { pass(w.between(0, 10*time.Minute)) }
	pause()
	for n := range 2 {
		content := fmt.Sprint(id, " object ", n, " of ", generation)
		w.object("assets", "payload/"+id+"/"+generation+"/"+fmt.Sprint(n), content)
		w.live(content)
		pause()
	}
	w.note(id, generation, "note of "+generation)
	w.live("note of " + generation)
}

func (w *writers) note(id, generation, text string) {
	ref := asset.DocumentRef{Collection: "notes", Key: id + "/" + generation, Generation: generation, Fenced: true}
	if err := w.documents.Put(w.ctx, ref, map[string]any{"of": text}); err != nil {
		w.Errorf("write %s: %v", id, err)
	}
}

// file creates an asset the other way round, at places that tell no generation: first what belongs to it.
func (w *writers) file(id string) {
	content := id + " object"
	w.object("files", "files/"+id+"/data", content)
	pass(w.between(0, 3*time.Hour))
	w.put("file", id)
	w.live(content)
}

// again creates an asset that is deleted at once and created again.
func (w *writers) again(id string) {
	old := w.put("mesh", id)
	w.object("assets", "payload/"+id+"/"+old+"/old", "old "+id)
	if _, err := w.r.Delete(w.ctx, id, dependency.DeleteRequest{Reason: "test"}); err != nil {
		w.Errorf("delete %s: %v", id, err)
	}
	for w.r.unfinishedOf(w.world, id) {
		pass(w.between(time.Second, time.Minute))
	}
	w.mesh(id)
}

// unfinishedOf tells whether an asset is being deleted.
func (r *replica) unfinishedOf(w *world, id string) bool {
	a, err := r.Asset(w.ctx, id)
	if err != nil {
		w.Error(err)
	}
	return a.Status == dependency.Deleting
}

// ghost leaves an object and a document of an asset that nobody knows.
func (w *writers) ghost(id string) {
	generation := uuid.Must(uuid.NewV7()).String()
	w.object("assets", "payload/"+id+"/"+generation+"/one", id)
	w.note(id, generation, id)
}

// contents are all contents in the stores.
func (w *writers) contents() string {
	var all strings.Builder
	for _, content := range w.stored() {
		all.WriteString(content + "\n")
	}
	return all.String()
}

// H-47: a thousand assets are created, some slowly, some again, some from their objects to the graph, while a hundred sweeps
// remove what is nobody's: nothing that is alive loses a byte, the old orphans go and the young ones stay.
func TestSweepsTouchNothingAliveWhileAssetsAreCreated(t *testing.T) {
	creations, sweeps := 1000, 100
	if testing.Short() {
		creations, sweeps = 200, 20
	}
	const seed = 47
	inTime(t, func(world *world, r *replica) {
		r.stop() // there is nothing to do for a day
		w := &writers{world: world, r: r, rand: rand.New(rand.NewPCG(seed, 1)), want: map[string]string{}}
		for i := range 20 {
			w.ghost(fmt.Sprint("old-ghost-", i))
		}
		w.object("assets", "readme.txt", "a stranger's")
		slow := w.put("mesh", "slow") // its creation takes longer than sweep.min_age
		w.object("assets", "payload/slow/"+slow+"/first", "slow first")
		w.live("slow first", "slow second", "a stranger's")
		pass(25 * time.Hour)
		for i := range 20 {
			w.ghost(fmt.Sprint("young-ghost-", i))
			w.live(fmt.Sprint("young-ghost-", i))
		}
		w.r = w.start()
		others := w.start()
		pass(time.Second)
		for i := range 50 { // later than all ghosts, and more: else they would tell of a restored backup, or exceed the share
			w.put("file", fmt.Sprint("empty-", i))
		}
		w.fail(func(c memory.Call) error { // listings take their time, so that much happens between two pages
			if c.Method == "Page" {
				pass(w.between(0, 5*time.Second))
			}
			return nil
		})
		const period = 3 * time.Minute
		var creators sync.WaitGroup
		for i := range creations {
			after := w.between(0, period*time.Duration(sweeps))
			creators.Go(func() {
				pass(after)
				[]func(string){w.mesh, w.mesh, w.file, w.again}[i%4](fmt.Sprint("new-", i))
			})
		}
		removed := 0
		for i := range sweeps {
			found, err := []*replica{w.r, others}[i%2].Sweep(w.ctx, true)
			if err != nil {
				w.Errorf("sweep %d (seed %d): %v", i, seed, err)
			}
			removed += found.Total
			pass(period)
		}
		creators.Wait()
		w.object("assets", "payload/slow/"+slow+"/second", "slow second")
		pass(10 * time.Minute)
		all := w.contents()
		for _, content := range w.want {
			if !strings.Contains(all, content) {
				w.Errorf("%q is gone (seed %d)", content, seed)
			}
		}
		for line := range strings.Lines(all) {
			if strings.Contains(line, "old-ghost-") {
				w.Errorf("left of an old ghost (seed %d): %s", seed, line)
			}
		}
		if removed == 0 || len(w.want) < creations {
			w.Errorf("%d were found, %d contents are to be there", removed, len(w.want))
		}
		if d, err := w.r.Deletions(w.ctx, dependency.DeletionQuery{Status: dependency.Deleting}); err != nil || len(d.Items) > 0 {
			w.Errorf("not finished: %+v, %v", d.Items, err)
		}
	})
}
