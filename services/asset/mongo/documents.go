package mongo

import (
	"context"
	"errors"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Delete implements asset.Documents with one command a collection, an operation for each ref. Where the field of the key
// is not `_id`, several documents may have the key: all go.
func (s *Store) Delete(ctx context.Context, refs []asset.DocumentRef) []error {
	errs := make([]error, len(refs))
	inCollection := map[string][]int{}
	for i, ref := range refs {
		inCollection[ref.Collection] = append(inCollection[ref.Collection], i)
	}
	collections := slices.Collect(maps.Keys(inCollection))
	together(len(collections), func(n int) {
		s.deleteIn(ctx, collections[n], refs, inCollection[collections[n]], errs)
	})
	return errs
}

// deleteIn deletes the refs with these indexes, all of one collection.
func (s *Store) deleteIn(ctx context.Context, collection string, refs []asset.DocumentRef, indexes []int, errs []error) {
	var operations []mongo.WriteModel
	var sent []int
	for _, i := range indexes {
		filter, err := matching(refs[i])
		if err != nil {
			errs[i] = err
			continue
		}
		sent = append(sent, i)
		if field(refs[i]) == "_id" {
			operations = append(operations, mongo.NewDeleteOneModel().SetFilter(filter))
		} else {
			operations = append(operations, mongo.NewDeleteManyModel().SetFilter(filter))
		}
	}
	if len(sent) == 0 {
		return
	}
	_, err := s.db.Collection(collection).BulkWrite(ctx, operations, options.BulkWrite().SetOrdered(false))
	for n, err := range bulkErrors("delete documents", err, len(sent)) {
		errs[sent[n]] = err
	}
}

// Exists implements asset.Documents with a command for each ref, many at a time: FerretDB finds a document quickly only when
// it is asked for one `_id` alone.
func (s *Store) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	exists, errs := make([]bool, len(refs)), make([]error, len(refs))
	together(len(refs), func(i int) { exists[i], errs[i] = s.exists(ctx, refs[i]) })
	return exists, errs
}

// exists asks by `_id` alone, which is unique, and compares what it finds; other fields may hold a key several times, so the
// server compares.
func (s *Store) exists(ctx context.Context, ref asset.DocumentRef) (bool, error) {
	filter, err := matching(ref)
	if err != nil {
		return false, err
	}
	if field(ref) == "_id" {
		filter = filter[:1]
	}
	fence := options.FindOne().SetProjection(bson.D{{Key: asset.FieldGeneration, Value: 1}})
	found, err := s.db.Collection(ref.Collection).FindOne(ctx, filter, fence).Raw()
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return false, nil
	case err != nil:
		return false, fault("look for document", err)
	}
	return field(ref) != "_id" || matches(ref, found), nil
}
