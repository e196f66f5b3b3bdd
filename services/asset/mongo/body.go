package mongo

import (
	"context"
	"errors"
	"maps"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// putTries bounds the tries of Put against writers that come between its look and its write.
const putTries = 10

// Put implements asset.Documents. It replaces what stands there unless that has a greater generation; the look and the
// write are one command, and a duplicate key says that it found something else: a newer document, or one that another
// writer has just made, on which it tries again. Where the field of the key is not `_id`, only a unique index of the
// collection's owner keeps two first writers from making two documents.
func (s *Store) Put(ctx context.Context, ref asset.DocumentRef, body map[string]any) error {
	document, err := stored(ref, body)
	if err != nil {
		return err
	}
	here := bson.D{{Key: field(ref), Value: document[field(ref)]}}
	replaceable := here
	if !ref.Fenced {
		notNewer := bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: ref.Generation}}}}
		replaceable = append(bson.D{here[0]}, bson.E{Key: asset.FieldGeneration, Value: notNewer})
	}
	c := s.db.Collection(ref.Collection)
	for try := 1; ; try++ {
		if !ref.Fenced && (try > 1 || field(ref) != "_id") {
			if err := refuseOverNewer(ctx, c, here, ref); err != nil {
				return err
			}
		}
		_, err = c.ReplaceOne(ctx, replaceable, document, options.Replace().SetUpsert(true))
		if err == nil {
			return nil
		}
		if !mongo.IsDuplicateKeyError(err) || try == putTries {
			return writeFault(err)
		}
	}
}

// stored is the document as the store keeps it.
func stored(ref asset.DocumentRef, body map[string]any) (bson.M, error) {
	id, err := key(ref)
	if err != nil {
		return nil, err
	}
	for name := range body {
		if strings.HasPrefix(name, "$") {
			return nil, problem.New(problem.InvalidRequest, "a field of a document cannot begin with $: rename %q", name).At(name)
		}
	}
	document := bson.M{}
	maps.Copy(document, body)
	document[asset.FieldGeneration] = ref.Generation
	document[field(ref)] = id
	return document, nil
}

// refuseOverNewer answers problem.Gone when a document of a greater generation stands here.
func refuseOverNewer(ctx context.Context, c *mongo.Collection, here bson.D, ref asset.DocumentRef) error {
	newer := append(bson.D{here[0]}, bson.E{Key: asset.FieldGeneration, Value: bson.D{{Key: "$gt", Value: ref.Generation}}})
	err := c.FindOne(ctx, newer, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return nil
	case err != nil:
		return fault("look for newer document", err)
	}
	return problem.New(problem.Gone, "the document belongs to a newer generation; read the asset again")
}

// Get implements asset.Documents.
func (s *Store) Get(ctx context.Context, ref asset.DocumentRef) (map[string]any, error) {
	filter, err := matching(ref)
	if err != nil {
		return nil, err
	}
	var document bson.M
	err = s.db.Collection(ref.Collection).FindOne(ctx, filter).Decode(&document)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, problem.New(problem.NotFound, "there is no such document")
	}
	if err != nil {
		return nil, fault("read document", err)
	}
	delete(document, "_id")
	delete(document, field(ref))
	delete(document, asset.FieldGeneration)
	return plainFields(document), nil
}

// plainFields turns a document's values into Go's.
func plainFields(document bson.M) map[string]any {
	out := make(map[string]any, len(document))
	for name, value := range document {
		out[name] = plain(value)
	}
	return out
}

// plain turns the driver's documents and arrays into Go's; other values stay as they are.
func plain(value any) any {
	switch v := value.(type) {
	case bson.M:
		return plainFields(v)
	case bson.D:
		out := make(map[string]any, len(v))
		for _, e := range v {
			out[e.Key] = plain(e.Value)
		}
		return out
	case bson.A:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = plain(inner)
		}
		return out
	default:
		return value
	}
}
