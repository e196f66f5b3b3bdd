package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// codeNamespaceNotFound is that of a collection that does not exist yet.
const codeNamespaceNotFound = 26

// Expires implements asset.Documents.
func (s *Store) Expires(ctx context.Context, collection string) (string, error) {
	indexes, err := s.db.Collection(collection).Indexes().List(ctx)
	if err == nil {
		var all []bson.Raw
		if err = indexes.All(ctx, &all); err == nil {
			return expiring(all), nil
		}
	}
	var server mongo.ServerError
	if errors.As(err, &server) && server.HasErrorCode(codeNamespaceNotFound) {
		return "", nil
	}
	return "", fault("list indexes", err)
}

// expiring names the first index that removes documents after a time (a TTL index).
func expiring(indexes []bson.Raw) string {
	for _, index := range indexes {
		if _, err := index.LookupErr("expireAfterSeconds"); err == nil {
			return index.Lookup("name").StringValue()
		}
	}
	return ""
}
