package sweeping

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/services/asset"
)

const policyText = `
sweep: {min_age: 72h}
kinds:
  scan:
    parts:
      note: {document: {collection: notes, key: "{id}/{generation}"}}
      raw:  {blobs: {bucket: scans, prefix: "raw/{hash:2}/{owner}/{id}/{generation}/"}}
`

// now is when everything happens; what is there was written ten days before, by assets that were created a day before that.
var now = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

const (
	owner    = "acme"
	perAsset = 3 // objects
)

// forest is what lies in the stores, worked out from a seed and a size: nothing of it is kept but the planted orphans. Each
// asset has a document and three objects; the stores tell them in an order that is none of the graph's.
type forest struct {
	assets  int
	step    int // from one asset to the next in the stores' order; prime to assets
	objects map[int]plant
	notes   map[int]plant
}

// plant is an orphan that lies where another thing would: it is told in front of it.
type plant struct {
	id, generation string
}

// newForest has so many objects and documents; of each thousand objects one is an orphan, of documents, too, one for each
// thousand objects: half of each belongs to nobody, half to an earlier generation of a live asset.
func newForest(objects int, seed uint64) *forest {
	f := &forest{assets: max(1, objects/perAsset), objects: map[int]plant{}, notes: map[int]plant{}}
	for f.step = f.assets*5/8 | 1; gcd(f.step, f.assets) != 1; f.step += 2 {
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for n := range objects / 1000 {
		p := plant{fmt.Sprintf("ghost-%d", n), generationAt(n, 2)}
		if n%2 == 1 {
			p.id = assetID(r.IntN(f.assets))
		}
		into, room := f.objects, f.assets*perAsset
		if n%4 > 1 {
			into, room = f.notes, f.assets
		}
		at := r.IntN(room)
		for into[at] != (plant{}) {
			at = (at + 1) % room
		}
		into[at] = p
	}
	return f
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func assetID(n int) string { return fmt.Sprintf("scan-%08d", n) }

// generationAt is a generation made some days before the stores' things.
func generationAt(n, days int) string {
	var id uuid.UUID
	made := now.AddDate(0, 0, -10-days).Add(time.Duration(n) * time.Millisecond).UnixMilli()
	binary.BigEndian.PutUint64(id[:8], uint64(made)<<16|0x7000)
	binary.BigEndian.PutUint64(id[8:], 0x8000<<48|uint64(n))
	return id.String()
}

// at is the asset of a position in the stores' order.
func (f *forest) at(n int) (id, generation string) {
	asset := n * f.step % f.assets
	return assetID(asset), generationAt(asset, 1)
}

func key(id, generation string) string {
	return fmt.Sprintf("raw/%.1x/%s/%s/%s/", sha256.Sum256([]byte(id)), owner, id, generation)
}

// places lists the orphans' places, as candidates and deletions tell them.
func (f *forest) places() map[string]bool {
	places := map[string]bool{}
	for _, p := range f.objects {
		places[p.id+" raw "+p.generation] = true
	}
	for _, p := range f.notes {
		places[p.id+" note "+p.generation] = true
	}
	return places
}

// blobs are the objects. Their mark is a position.
type blobs struct {
	asset.Blobs
	*forest
}

// List is asked about no place: only documents can be missing.
func (blobs) List(_ context.Context, places []asset.Place, _ int) ([]asset.Listing, []error) {
	return make([]asset.Listing, len(places)), make([]error, len(places))
}

// Page tells the objects from a position on, and a stranger's object in each page.
func (b blobs) Page(_ context.Context, _ asset.Place, mark string, limit int) (versions []asset.Version, next string, err error) {
	written := now.AddDate(0, 0, -10)
	n, _ := strconv.Atoi(mark)
	for ; n < b.assets*perAsset && len(versions)+3 < limit; n++ {
		if p, ok := b.objects[n]; ok {
			versions = append(versions, asset.Version{Key: key(p.id, p.generation) + "data", ID: "v", Bytes: 7, Modified: written})
		}
		id, generation := b.at(n / perAsset)
		versions = append(versions, asset.Version{Key: key(id, generation) + strconv.Itoa(n), ID: "v", Bytes: 1, Modified: written})
	}
	versions = append(versions, asset.Version{Key: "raw/readme.txt", ID: "v", Modified: written})
	if n < b.assets*perAsset {
		next = strconv.Itoa(n)
	}
	return versions, next, nil
}

// documents are the notes. Their mark is a position.
type documents struct {
	asset.Documents
	*forest
}

// Page tells the documents from a position on.
func (d documents) Page(_ context.Context, _ asset.DocumentShelf, mark string, limit int) (kept []asset.KeptDocument, next string, err error) {
	n, _ := strconv.Atoi(mark)
	for ; n < d.assets && len(kept)+2 < limit; n++ {
		if p, ok := d.notes[n]; ok {
			kept = append(kept, asset.KeptDocument{Key: p.id + "/" + p.generation, Generation: p.generation})
		}
		id, generation := d.at(n)
		kept = append(kept, asset.KeptDocument{Key: id + "/" + generation, Generation: generation})
	}
	if n < d.assets {
		next = strconv.Itoa(n)
	}
	return kept, next, nil
}

// Exists knows every document.
func (d documents) Exists(_ context.Context, refs []asset.DocumentRef) (exists []bool, errs []error) {
	exists = make([]bool, len(refs))
	for i := range refs {
		exists[i] = true
	}
	return exists, make([]error, len(refs))
}
