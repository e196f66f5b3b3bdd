package stores

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Snapshot is everything outside the graph: each document, object version, delete marker and unfinished upload, by place,
// with a hash or the ETag of what it holds. The product's own collections are left out.
type Snapshot map[string]string

func documentPlace(collection, id string) string { return "document " + collection + " " + id }
func versionPlace(key, version string) string    { return "object " + key + " " + version }

// Snapshot reads the stores.
func (s *Stores) Snapshot(t *testing.T) Snapshot {
	t.Helper()
	snap, err := s.Read(t.Context())
	if err != nil {
		t.Fatalf("read the stores: %v", err)
	}
	return snap
}

// Read is Snapshot for those that have no test at hand.
func (s *Stores) Read(ctx context.Context) (Snapshot, error) {
	snap := Snapshot{}
	return snap, errors.Join(s.readDocuments(ctx, snap), s.readObjects(ctx, snap, ""))
}

// Objects reads the versions, markers and uploads below a prefix.
func (s *Stores) Objects(ctx context.Context, prefix string) (Snapshot, error) {
	snap := Snapshot{}
	return snap, s.readObjects(ctx, snap, prefix)
}

// With gives the places that hold the text, in a new snapshot.
func (s Snapshot) With(text string) Snapshot { return s.where(text, true) }

// Without gives the other places.
func (s Snapshot) Without(text string) Snapshot { return s.where(text, false) }

func (s Snapshot) where(text string, want bool) Snapshot {
	out := Snapshot{}
	for place, what := range s {
		if strings.Contains(place, text) == want {
			out[place] = what
		}
	}
	return out
}

func (s *Stores) readDocuments(ctx context.Context, snap Snapshot) error {
	names, err := s.documents.ListCollectionNames(ctx, bson.M{})
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, s.Namespace+"_") {
			continue
		}
		cur, err := s.documents.Collection(name).Find(ctx, bson.M{})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for cur.Next(ctx) {
			snap[documentPlace(name, idOf(cur.Current))] = hash(cur.Current)
		}
		if err := cur.Err(); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return nil
}

// idOf is a document's id: a text as it is, others as extended JSON, which tells their type.
func idOf(document bson.Raw) string {
	id := document.Lookup("_id")
	if text, ok := id.StringValueOK(); ok {
		return text
	}
	return id.String()
}

func (s *Stores) readObjects(ctx context.Context, snap Snapshot, prefix string) error {
	pages := s3.NewListObjectVersionsPaginator(s.objects, &s3.ListObjectVersionsInput{Bucket: &s.Bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list versions: %w", err)
		}
		for _, v := range p.Versions {
			snap[versionPlace(aws.ToString(v.Key), aws.ToString(v.VersionId))] = aws.ToString(v.ETag)
		}
		for _, m := range p.DeleteMarkers {
			snap["marker "+aws.ToString(m.Key)+" "+aws.ToString(m.VersionId)] = ""
		}
	}
	up, err := s.objects.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &s.Bucket, Prefix: &prefix})
	if err != nil {
		return fmt.Errorf("list uploads: %w", err)
	}
	for _, u := range up.Uploads {
		snap["upload "+aws.ToString(u.Key)+" "+aws.ToString(u.UploadId)] = ""
	}
	return nil
}
