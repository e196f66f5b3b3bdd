package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/services/asset"
)

// each calls do for every ref, some at a time, with the filter of matching; a bad ref never gets there.
func each(refs []asset.DocumentRef, errs []error, do func(i int, filter bson.D) error) {
	together(len(refs), func(i int) {
		filter, err := matching(refs[i])
		if err == nil {
			err = do(i, filter)
		}
		errs[i] = err
	})
}

// Delete implements asset.Documents with a command for each ref, many at a time. One command for all of them would take
// a quarter less of the server's time, but tells only how many documents went, not which. Where the field of the key is
// not `_id`, several documents may have the key: all go.
func (s *Store) Delete(ctx context.Context, refs []asset.DocumentRef) ([]int64, []error) {
	deleted, errs := make([]int64, len(refs)), make([]error, len(refs))
	each(refs, errs, func(i int, filter bson.D) error {
		n, err := s.deleteMatching(ctx, refs[i], filter)
		deleted[i] = n
		return err
	})
	return deleted, errs
}

func (s *Store) deleteMatching(ctx context.Context, ref asset.DocumentRef, filter bson.D) (int64, error) {
	c := s.db.Collection(ref.Collection)
	// One document is deleted exactly once even if its command is sent again; that does not hold for many.
	remove := func() (*mongo.DeleteResult, error) { return c.DeleteOne(ctx, filter) }
	if field(ref) != "_id" {
		remove = func() (*mongo.DeleteResult, error) { return c.DeleteMany(ctx, filter) }
	}
	result, err := remove()
	if err != nil {
		return 0, fault("delete document", err)
	}
	return result.DeletedCount, nil
}

// Exists implements asset.Documents.
func (s *Store) Exists(ctx context.Context, refs []asset.DocumentRef) ([]bool, []error) {
	exists, errs := make([]bool, len(refs)), make([]error, len(refs))
	idOnly := options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})
	each(refs, errs, func(i int, filter bson.D) error {
		err := s.db.Collection(refs[i].Collection).FindOne(ctx, filter, idOnly).Err()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		if err != nil {
			return fault("look for document", err)
		}
		exists[i] = true
		return nil
	})
	return exists, errs
}
