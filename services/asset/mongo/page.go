package mongo

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// idTypes are the sorts of `_id` that pages go through, one after the other: a comparison finds only values of its own sort.
var idTypes = [...]string{"number", "string", "objectId", "binData", "date", "object"}

// Page implements asset.Documents. The mark names the sort of `_id`, and the last one seen of it.
func (s *Store) Page(ctx context.Context, shelf asset.DocumentShelf, mark string, limit int) ([]asset.KeptDocument, string, error) {
	number, last, err := readMark(mark)
	if err != nil {
		return nil, "", err
	}
	condition := bson.D{{Key: "$type", Value: idTypes[number]}}
	if last.Type != 0 {
		condition = append(condition, bson.E{Key: "$gt", Value: last})
	}
	keyField := cmp.Or(shelf.IDField, "_id")
	cursor, err := s.db.Collection(shelf.Collection).Find(ctx, bson.D{{Key: "_id", Value: condition}}, options.Find().
		SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit)).
		SetProjection(bson.D{{Key: "_id", Value: 1}, {Key: keyField, Value: 1}, {Key: asset.FieldGeneration, Value: 1}}))
	if err != nil {
		return nil, "", fault("list documents", err)
	}
	var found []bson.Raw
	if err := cursor.All(ctx, &found); err != nil {
		return nil, "", fault("list documents", err)
	}
	var kept []asset.KeptDocument
	for _, d := range found {
		if key, ok := spelled(d.Lookup(keyField), shelf.IDType); ok {
			generation, _ := d.Lookup(asset.FieldGeneration).StringValueOK()
			kept = append(kept, asset.KeptDocument{Key: key, Generation: generation})
		}
	}
	switch {
	case len(found) == limit:
		next, err := writeMark(number, found[limit-1].Lookup("_id"))
		return kept, next, err
	case number+1 < len(idTypes):
		next, err := writeMark(number+1, bson.RawValue{})
		return kept, next, err
	}
	return kept, "", nil
}

// spelled gives a key in the one spelling of its type, as key reads it.
func spelled(value bson.RawValue, idType policy.IDType) (string, bool) {
	switch idType {
	case policy.IDInt:
		n, ok := value.AsInt64OK()
		return strconv.FormatInt(n, 10), ok && value.Type != bson.TypeDouble
	case policy.IDObjectID:
		id, ok := value.ObjectIDOK()
		return id.Hex(), ok
	default:
		return value.StringValueOK()
	}
}

// markedID is a mark's `_id`, of whatever sort.
type markedID struct {
	ID bson.RawValue `bson:"id"`
}

func writeMark(number int, last bson.RawValue) (string, error) {
	if last.Type == 0 {
		return strconv.Itoa(number), nil
	}
	text, err := bson.MarshalExtJSON(markedID{last}, true, false)
	return strconv.Itoa(number) + " " + string(text), err
}

func readMark(mark string) (number int, last bson.RawValue, err error) {
	if mark == "" {
		return 0, last, nil
	}
	sort, text, found := strings.Cut(mark, " ")
	number, err = strconv.Atoi(sort)
	if err == nil && found {
		var m markedID
		err = bson.UnmarshalExtJSON([]byte(text), true, &m)
		last = m.ID
	}
	if err != nil || number < 0 || number >= len(idTypes) {
		return 0, last, problem.New(problem.InvalidRequest, "the listing of documents cannot be continued here; begin it again")
	}
	return number, last, nil
}
