package asset

import (
	"context"
	"fmt"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// surveyPage is how many objects or documents one page of a survey looks at: with the longest keys and ids it stays far below
// what a broker takes.
const surveyPage = 300

// Survey tells what lies on a shelf, page by page, by the places that our policy has there. What is at no place of the policy
// is somebody else's, and not told. An obstacle is an error, never an empty page.
func (i *Inspector) Survey(ctx context.Context, shelf events.Shelf) (events.Survey, error) {
	switch {
	case (shelf.Bucket == "") == (shelf.Collection == ""):
		return events.Survey{}, problem.New(problem.InvalidRequest, "a shelf is in a bucket or a collection").At("shelf")
	case shelf.Collection != "":
		return i.surveyDocuments(ctx, shelf)
	}
	return i.surveyObjects(ctx, shelf)
}

func (i *Inspector) surveyObjects(ctx context.Context, shelf events.Shelf) (out events.Survey, err error) {
	versions, next, err := i.blobs.Page(ctx, Place{Bucket: shelf.Bucket, Prefix: shelf.Prefix}, shelf.After, surveyPage)
	if err != nil {
		return out, listingFailed("bucket "+shelf.Bucket, err)
	}
	byPlace := map[string]int{}
	for _, v := range versions {
		r, ok := i.policy.Resident(shelf.Bucket, v.Key)
		if !ok {
			continue
		}
		n, known := byPlace[r.Place]
		if !known {
			n = len(out.Lodgers)
			byPlace[r.Place] = n
			l := lodger(r)
			l.Bucket = shelf.Bucket
			out.Lodgers = append(out.Lodgers, l)
		}
		l := &out.Lodgers[n]
		l.Things++
		l.Bytes += v.Bytes
		if v.Modified.After(l.Written) {
			l.Written = v.Modified.UTC()
		}
	}
	out.Next = next
	return out, nil
}

func (i *Inspector) surveyDocuments(ctx context.Context, shelf events.Shelf) (out events.Survey, err error) {
	asked := DocumentShelf{Collection: shelf.Collection, IDField: shelf.IDField, IDType: policy.IDType(shelf.IDType)}
	kept, next, err := i.documents.Page(ctx, asked, shelf.After, surveyPage)
	if err != nil {
		return out, listingFailed("collection "+shelf.Collection, err)
	}
	for _, k := range kept {
		r, ok := i.policy.DocumentResident(shelf.Collection, k.Key)
		if !ok {
			continue
		}
		l := lodger(r)
		l.Collection, l.IDField, l.IDType, l.Things = shelf.Collection, shelf.IDField, shelf.IDType, 1
		if l.Generation == "" {
			l.Generation = k.Generation
		}
		out.Lodgers = append(out.Lodgers, l)
	}
	out.Next = next
	return out, nil
}

func listingFailed(what string, err error) error {
	return fmt.Errorf("%w: %w", problem.New(problem.ListingFailed, "the listing of %s failed, so nothing is known of what lies there: %v", what, err), err)
}

func lodger(r policy.Resident) events.Lodger {
	return events.Lodger{Asset: r.ID, Owner: r.Owner, Generation: r.Generation, Kind: r.Kind, Part: r.Part, Place: r.Place, Below: !r.Whole}
}
