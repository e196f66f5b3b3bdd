package memory

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Documents is a document store in memory.
type Documents struct {
	probe *Probe
	mu    sync.Mutex
	byKey map[documentKey]document
	// expiring are the collections of which the store itself removes documents, with the index by which it does.
	expiring map[string]string
}

type documentKey struct {
	collection string
	field      string
	idType     policy.IDType
	id         string
}

// document is a stored body; an adopted one has no generation.
type document struct {
	generation string
	body       map[string]any
}

// NewDocuments makes an empty store that shows its calls to the probe.
func NewDocuments(probe *Probe) *Documents {
	return &Documents{probe: probe, byKey: map[documentKey]document{}, expiring: map[string]string{}}
}

// keyOf works out a document's identity, or says why it cannot have one.
func keyOf(ref asset.DocumentRef) (documentKey, error) {
	key := documentKey{ref.Collection, cmp.Or(ref.IDField, "_id"), cmp.Or(ref.IDType, policy.IDString), ref.Key}
	if ref.Key == "" {
		return key, asset.ErrEmptyKey
	}
	valid := true
	switch key.idType {
	case policy.IDInt:
		n, err := strconv.ParseInt(ref.Key, 10, 64)
		valid = err == nil && strconv.FormatInt(n, 10) == ref.Key
	case policy.IDObjectID:
		b, err := hex.DecodeString(ref.Key)
		valid = err == nil && len(b) == 12 && hex.EncodeToString(b) == ref.Key
	}
	if !valid {
		return key, &asset.Blocked{Reason: asset.ReasonKeyInvalid, Detail: fmt.Sprintf("%q is no %s", ref.Key, key.idType)}
	}
	return key, nil
}

// find gives the document that the ref means, by the comparison that all calls share.
func (d *Documents) find(ref asset.DocumentRef) (documentKey, document, bool, error) {
	key, err := keyOf(ref)
	if err != nil {
		return key, document{}, false, err
	}
	found, there := d.byKey[key]
	matches := ref.Fenced || found.generation == "" && !ref.Exact || found.generation == ref.Generation
	return key, found, there && matches, nil
}

// Delete removes what the refs mean.
func (d *Documents) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	errs := make([]error, len(refs))
	err := d.probe.around(ctx, Call{Store: "documents", Method: "Delete", Size: len(refs)}, func() {
		d.each(refs, errs, func(_ int, key documentKey) { delete(d.byKey, key) })
	})
	if err != nil {
		return fill(len(refs), err)
	}
	return errs
}

// Exists tells whether there is what the refs mean.
func (d *Documents) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	exists, errs := make([]bool, len(refs)), make([]error, len(refs))
	err := d.probe.around(ctx, Call{Store: "documents", Method: "Exists", Size: len(refs)}, func() {
		d.each(refs, errs, func(i int, _ documentKey) { exists[i] = true })
	})
	if err != nil {
		return make([]bool, len(refs)), fill(len(refs), err)
	}
	return exists, errs
}

// OtherType tells whether a document has the key in another type.
func (d *Documents) OtherType(ctx context.Context, ref asset.DocumentRef) (other policy.IDType, err error) {
	err = d.probe.around(ctx, Call{Store: "documents", Method: "OtherType", Size: 1}, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, idType := range []policy.IDType{policy.IDString, policy.IDInt, policy.IDObjectID} {
			asked := ref
			if asked.IDType = idType; idType != cmp.Or(ref.IDType, policy.IDString) {
				if _, _, there, err := d.find(asked); there && err == nil {
					other = idType
				}
			}
		}
	})
	return other, err
}

// Expires gives the index that was told to Expire.
func (d *Documents) Expires(ctx context.Context, collection string) (index string, err error) {
	err = d.probe.around(ctx, Call{Store: "documents", Method: "Expires", Size: 1}, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		index = d.expiring[collection]
	})
	return index, err
}

// Expire makes a collection look as if an index of it removed documents.
func (d *Documents) Expire(collection, index string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expiring[collection] = index
}

// each calls f for every ref that means a document.
func (d *Documents) each(refs []asset.DocumentRef, errs []error, f func(i int, key documentKey)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, ref := range refs {
		key, _, there, err := d.find(ref)
		errs[i] = err
		if there {
			f(i, key)
		}
	}
}

// Put stores a document.
func (d *Documents) Put(ctx context.Context, ref asset.DocumentRef, body map[string]any) error {
	var refused error
	err := d.probe.around(ctx, Call{Store: "documents", Method: "Put", Size: 1}, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		key, found, _, err := d.find(ref)
		switch {
		case err != nil:
			refused = err
		case !ref.Fenced && found.generation > ref.Generation:
			refused = problem.New(problem.Gone, "the document belongs to a later generation")
		default:
			d.byKey[key] = document{ref.Generation, copied(body)}
		}
	})
	return cmp.Or(err, refused)
}

// Get reads a document.
func (d *Documents) Get(ctx context.Context, ref asset.DocumentRef) (body map[string]any, err error) {
	var refused error
	err = d.probe.around(ctx, Call{Store: "documents", Method: "Get", Size: 1}, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		_, found, there, err := d.find(ref)
		switch {
		case err != nil:
			refused = err
		case !there:
			refused = problem.New(problem.NotFound, "there is no such document")
		default:
			body = copied(found.body)
		}
	})
	return body, cmp.Or(err, refused)
}

// Ping answers.
func (d *Documents) Ping(ctx context.Context) error {
	return d.probe.around(ctx, Call{Store: "documents", Method: "Ping"}, func() {})
}

// Adopt writes a document as its owner did before us: without a generation.
func (d *Documents) Adopt(ref asset.DocumentRef, body map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key, err := keyOf(ref)
	if err != nil {
		panic(err)
	}
	d.byKey[key] = document{body: copied(body)}
}

// Snapshot tells everything that is stored, for comparisons: a name of each document, and its content.
func (d *Documents) Snapshot() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]string{}
	for key, doc := range d.byKey {
		content, err := json.Marshal(doc.body)
		if err != nil {
			panic(err)
		}
		all[fmt.Sprintf("%+v", key)] = doc.generation + " " + string(content)
	}
	return all
}

// copied makes a deep copy of a JSON object.
func copied(body map[string]any) map[string]any {
	out := maps.Clone(body)
	if out == nil {
		out = map[string]any{}
	}
	for name, value := range out {
		out[name] = copiedValue(value)
	}
	return out
}

func copiedValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return copied(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copiedValue(v[i])
		}
		return out
	}
	return value
}
