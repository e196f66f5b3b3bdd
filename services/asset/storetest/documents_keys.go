package storetest

import (
	"errors"
	"fmt"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

func documentMany(d documents) {
	const n = 1200 // more than one call of a store may take
	second := unique(d.t, "c_")
	refs := make([]asset.DocumentRef, n)
	there, gone := make([]bool, n), make([]bool, n)
	for i := range refs {
		refs[i] = d.ref(fmt.Sprint(i), older)
		if i%2 == 1 {
			refs[i].Collection = second
		}
		refs[i].Fenced = i%3 == 0
		if i%100 == 0 {
			there[i] = true
			d.put(refs[i], map[string]any{"i": fmt.Sprint(i)})
		}
	}
	survivor := d.ref("survivor", older)
	d.put(survivor, map[string]any{})
	d.sees(there, refs...)
	d.deletes(refs...)
	d.sees(gone, refs...)
	d.deletes(refs...)
	d.sees([]bool{true}, survivor)
	d.deletes([]asset.DocumentRef{}...)
	d.sees([]bool{}, []asset.DocumentRef{}...)
}

func documentBadRefs(d documents) {
	good, number := d.ref("k", older), d.ref("not a number", older)
	number.IDType = policy.IDInt
	refs := []asset.DocumentRef{d.ref("", older), good, number, good}
	d.put(good, map[string]any{})

	exists, errs := d.Documents.Exists(d.ctx, refs)
	d.badRefs("exists", errs)
	same(d.t, "exists", exists, []bool{false, true, false, true})
	d.badRefs("delete", d.Documents.Delete(d.ctx, refs))
	d.sees([]bool{false}, good)
	for _, bad := range []int{0, 2} {
		if err := d.Documents.Put(d.ctx, refs[bad], map[string]any{}); err == nil {
			d.t.Errorf("put of bad ref %d: no error", bad)
		}
		if _, err := d.Documents.Get(d.ctx, refs[bad]); err == nil {
			d.t.Errorf("get of bad ref %d: no error", bad)
		}
	}
}

func (d documents) badRefs(what string, errs []error) {
	d.t.Helper()
	if len(errs) != 4 || !errors.Is(errs[0], asset.ErrEmptyKey) {
		d.t.Fatalf("%s: %v, want %v for the first of 4", what, errs, asset.ErrEmptyKey)
	}
	ok(d.t, what, errs[1], errs[3])
	blocked(d.t, what, errs[2], asset.ReasonKeyInvalid)
}

func documentKeys(d documents) {
	var all []asset.DocumentRef
	for what, name := range names {
		for _, key := range []string{name, name + "/" + older, "0" + name} {
			ref := d.ref(key, older)
			all = append(all, ref)
			d.put(ref, map[string]any{"what": what, "key": key})
		}
	}
	for i, ref := range all {
		body, err := d.Documents.Get(d.ctx, ref)
		ok(d.t, "get "+ref.Key, err)
		same(d.t, "key", body["key"], any(ref.Key))
		d.deletes(ref)
		if i%10 != 9 && i != len(all)-1 {
			continue // each look at the rest asks for all of them
		}
		rest := make([]bool, len(all))
		for j := range rest {
			rest[j] = j > i
		}
		d.sees(rest, all...)
	}
}

func documentOtherTypes(d documents) {
	other := func(ref asset.DocumentRef, want policy.IDType) {
		d.t.Helper()
		got, err := d.Documents.OtherType(d.ctx, ref)
		ok(d.t, "other type of "+ref.Key, err)
		same(d.t, "other type of "+ref.Key, got, want)
	}
	typed := func(idType policy.IDType, key string) asset.DocumentRef {
		ref := d.ref(key, older)
		ref.IDType = idType
		return ref
	}
	const object = "65f0c0ffee65f0c0ffee0002"
	for key, idType := range map[string]policy.IDType{"7": policy.IDInt, object: policy.IDObjectID} {
		d.put(typed(idType, key), map[string]any{})
		other(typed(policy.IDString, key), idType)
		d.sees([]bool{false}, typed(policy.IDString, key))
		other(typed(idType, key), "")
		other(d.ref(key, newer), "") // of another generation
		d.deletes(typed(policy.IDString, key))
		d.sees([]bool{true}, typed(idType, key))
		d.deletes(typed(idType, key))
		other(typed(policy.IDString, key), "")
	}
	d.put(typed(policy.IDString, "8"), map[string]any{})
	other(typed(policy.IDInt, "8"), policy.IDString)
	other(d.ref("eight", older), "")
}

func documentIDs(d documents) {
	typed := func(field string, idType policy.IDType, key string) asset.DocumentRef {
		ref := d.ref(key, older)
		ref.IDField, ref.IDType = field, idType
		return ref
	}
	all := []asset.DocumentRef{
		typed("", policy.IDString, "42"),
		typed("", policy.IDInt, "42"),
		typed("", policy.IDInt, "-9007199254740993"),
		typed("", policy.IDObjectID, "65f0c0ffee65f0c0ffee0001"),
		typed("sku", policy.IDString, "42"),
		typed("sku", policy.IDInt, "42"),
	}
	if !d.TextIDs {
		all = append(all, typed("", policy.IDString, "65f0c0ffee65f0c0ffee0001"))
	}
	for i, ref := range all {
		d.put(ref, map[string]any{"i": fmt.Sprint(i)})
	}
	for i, ref := range all {
		d.holds(ref, map[string]any{"i": fmt.Sprint(i)})
	}
	for i, ref := range all {
		d.deletes(ref)
		d.sees([]bool{false}, ref)
		for _, other := range all[i+1:] {
			d.sees([]bool{true}, other)
		}
	}
	// A second spelling of one id would let two assets share a document.
	for _, bad := range []string{"1.5", "0x10", "99999999999999999999", "xyz", "01", "+1", "-0", " 1"} {
		_, errs := d.Documents.Exists(d.ctx, []asset.DocumentRef{typed("", policy.IDInt, bad)})
		blocked(d.t, "int "+bad, errs[0], asset.ReasonKeyInvalid)
	}
	for _, bad := range []string{"65f0", "65F0C0FFEE65F0C0FFEE0001", "zzf0c0ffee65f0c0ffee0001"} {
		_, errs := d.Documents.Exists(d.ctx, []asset.DocumentRef{typed("", policy.IDObjectID, bad)})
		blocked(d.t, "object id "+bad, errs[0], asset.ReasonKeyInvalid)
	}
}
