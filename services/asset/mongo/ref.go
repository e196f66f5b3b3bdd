package mongo

import (
	"cmp"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

// field is where the key of a document is.
func field(ref asset.DocumentRef) string { return cmp.Or(ref.IDField, "_id") }

// key gives the stored form of a ref's key. A key is taken only in the one spelling that its type has, so that two assets
// never mean one document: "7" is a number, "07" is not.
func key(ref asset.DocumentRef) (any, error) {
	if ref.Key == "" {
		return nil, asset.ErrEmptyKey
	}
	switch ref.IDType {
	case policy.IDInt:
		n, err := strconv.ParseInt(ref.Key, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != ref.Key {
			return nil, badKey(ref, "not a whole number")
		}
		return n, nil
	case policy.IDObjectID:
		id, err := bson.ObjectIDFromHex(ref.Key)
		if err != nil || id.Hex() != ref.Key {
			return nil, badKey(ref, "not 24 lower-case hex digits")
		}
		return id, nil
	default:
		return ref.Key, nil
	}
}

func badKey(ref asset.DocumentRef, why string) error {
	return &asset.Blocked{Reason: asset.ReasonKeyInvalid,
		Detail: fmt.Sprintf("key %q of collection %s is %s, as its id_type asks", ref.Key, ref.Collection, why)}
}

// matching is the one comparison by which documents are looked for, read and deleted: the key, and the generation too
// unless the key holds it; a document without the field is an adopted one and matches every generation.
func matching(ref asset.DocumentRef) (bson.D, error) {
	id, err := key(ref)
	if err != nil {
		return nil, err
	}
	filter := bson.D{{Key: field(ref), Value: id}}
	if !ref.Fenced {
		filter = append(filter, generations(ref))
	}
	return filter, nil
}

// generations asks for the generation of a ref, and lets pass what has none unless the ref is exact.
func generations(ref asset.DocumentRef) bson.E {
	if ref.Exact {
		return bson.E{Key: asset.FieldGeneration, Value: ref.Generation}
	}
	return bson.E{Key: "$or", Value: bson.A{
		bson.D{{Key: asset.FieldGeneration, Value: ref.Generation}},
		bson.D{{Key: asset.FieldGeneration, Value: bson.D{{Key: "$exists", Value: false}}}},
	}}
}

// matches is the comparison of matching for a document that was found by its key alone.
func matches(ref asset.DocumentRef, found bson.Raw) bool {
	if ref.Fenced {
		return true
	}
	value, err := found.LookupErr(asset.FieldGeneration)
	if err != nil {
		return !ref.Exact // the field is not there
	}
	generation, isText := value.StringValueOK()
	return isText && generation == ref.Generation
}
