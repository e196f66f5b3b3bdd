package mongo

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
)

// OtherType implements asset.Documents.
func (s *Store) OtherType(ctx context.Context, ref asset.DocumentRef) (policy.IDType, error) {
	others := otherKeys(ref)
	if len(others) == 0 {
		return "", nil
	}
	filter := bson.D{{Key: field(ref), Value: bson.D{{Key: "$in", Value: others}}}}
	if !ref.Fenced {
		filter = append(filter, generations(ref))
	}
	found, err := s.db.Collection(ref.Collection).FindOne(ctx, filter, options.FindOne().SetProjection(bson.D{{Key: field(ref), Value: 1}})).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", nil
	}
	if err != nil {
		return "", fault("look for ids of another type", err)
	}
	switch found.Lookup(field(ref)).Type {
	case bson.TypeString:
		return policy.IDString, nil
	case bson.TypeObjectID:
		return policy.IDObjectID, nil
	default:
		return policy.IDInt, nil
	}
}

// otherKeys are the values of the other types that the text of a key may stand for.
func otherKeys(ref asset.DocumentRef) (others bson.A) {
	own := cmp.Or(ref.IDType, policy.IDString)
	if own != policy.IDString && ref.Key != "" {
		others = append(others, ref.Key)
	}
	if n, err := strconv.ParseInt(ref.Key, 10, 64); err == nil && own != policy.IDInt {
		others = append(others, n)
	}
	if id, err := bson.ObjectIDFromHex(ref.Key); err == nil && own != policy.IDObjectID {
		others = append(others, id)
	}
	return others
}
