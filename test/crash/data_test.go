package crash

import (
	"context"
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// holding is everything in the stores that belongs to one generation of an asset.
type holding struct {
	asset, generation string
	entries           map[string]string          // by name, as in the stores' snapshots
	truth             map[string]dependency.Step // what there is of each part: documents, objects, bytes
	accepted          bool                       // the graph has accepted its deletion
	deleted           bool                       // the graph says that it is gone
}

// create makes an asset that is there before the run begins, with its data.
func (w *world) create(kind, id string, objects int, needs ...string) {
	s, err := dependency.New(dependency.Config{Graph: w.graph, Policy: w.policy})
	if err != nil {
		panic(err)
	}
	size := int64(objects)
	put := dependency.Put{Kind: kind, Owner: owner, Bytes: &size, Links: &[]dependency.LinkTo{}}
	for _, to := range needs {
		*put.Links = append(*put.Links, dependency.LinkTo{Type: "DEPENDS_ON", To: to})
	}
	a, _, err := s.PutAsset(operator(context.Background()), id, put)
	if err != nil {
		panic(err)
	}
	w.fill(kind, id, a.Generation, objects)
}

// fill stores the data of a generation: a document and so many objects, one with an older version and a marker above it, one
// unfinished upload.
func (w *world) fill(kind, id, generation string, objects int) {
	before := w.stored()
	h := &holding{asset: id, generation: generation, entries: map[string]string{}}
	bucket, below, ref := w.places(kind, id, generation)
	w.write(ref, id+" of "+generation)
	size := int64(0)
	for i := range objects {
		size += w.put(bucket, fmt.Sprintf("%s%04d", below, i), generation)
	}
	hidden := below + "versions" + strings.Repeat(w.otherLife, w.lives(id))
	size += w.put(bucket, hidden, "old") + w.put(bucket, hidden, "newer")
	w.hide(bucket, hidden)
	w.beginUpload(bucket, below+"unfinished")
	document, set := "info", "raw"
	if kind == "mesh" {
		document, set = "note", "payload"
	}
	h.truth = map[string]dependency.Step{document: {Documents: 1}, set: {Objects: int64(objects) + 4, Bytes: size}}
	for name, content := range w.stored() {
		if was, there := before[name]; !there || was != content {
			h.entries[name] = content
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holdings = append(w.holdings, h)
}

// lives is how often an asset has lived already.
func (w *world) lives(id string) (n int) {
	for _, h := range w.held() {
		if h.asset == id {
			n++
		}
	}
	return n
}

// places are where a generation's data lie, by the policy.
func (w *world) places(kind, id, generation string) (bucket, below string, ref asset.DocumentRef) {
	switch kind {
	case "scan":
		return w.others, "raw/" + id + "/", asset.DocumentRef{Collection: "infos", Key: id, Generation: generation}
	case "slow":
		return w.others, "slow/" + id + "/", asset.DocumentRef{Collection: "slowinfos", Key: id, Generation: generation}
	}
	return w.meshes, "payload/" + id + "/" + generation + "/",
		asset.DocumentRef{Collection: "notes", Key: id + "/" + generation, Generation: generation, Fenced: true}
}

func (w *world) write(ref asset.DocumentRef, text string) {
	if err := w.documents().Put(context.Background(), ref, map[string]any{"text": text}); err != nil {
		panic(err)
	}
}

// put writes an object and gives its size.
func (w *world) put(bucket, key, content string) int64 {
	size := int64(len(content))
	w.putObject(bucket, key, content)
	return size
}

// addBystanders fills the stores with what nobody may touch: neighbours whose names begin alike, other generations of the
// same ids, things that no asset owns.
func (w *world) addBystanders() {
	const other = "01900000-0000-7000-8000-000000000001"
	for _, id := range []string{"a", "a2", "b", "b2", "A"} {
		w.write(asset.DocumentRef{Collection: "notes", Key: id + "/" + other, Generation: other, Fenced: true}, "other generation of "+id)
		w.put(w.meshes, "payload/"+id+"/"+other+"/0000", "other generation of "+id)
		w.put(w.meshes, "payload/"+id+w.beside, "beside "+id)
		w.put(w.others, "raw/"+id+w.beside, "beside "+id)
	}
	for _, id := range []string{"a2", "b2", "a%2F1", "A"} {
		w.write(asset.DocumentRef{Collection: "infos", Key: id, Generation: other}, "neighbour "+id)
		w.put(w.others, "raw/"+id+"/0000", "neighbour "+id)
		w.put(w.others, "raw/"+id+"/versions", "neighbour "+id)
		w.hide(w.others, "raw/"+id+"/versions")
		w.beginUpload(w.others, "raw/"+id+"/unfinished")
	}
	w.put(w.others, "a", "no asset's")
	w.bystanders = w.stored()
}

// accept notes a deletion that was promised.
func (w *world) accept(deletion string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deletions = append(w.deletions, deletion)
}
