package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// contents is what the stores hold of a scene, the graph apart.
type contents struct {
	documents map[string]bool // by key
	versions  []objectVersion // delete markers included
	uploads   map[string]bool // unfinished, by key
}

type objectVersion struct{ key, id string }

// look reads everything of a scene.
func (s *stores) look(ctx context.Context, sc *scene) (contents, error) {
	var c contents
	var err error
	if c.documents, err = s.lookAtDocuments(ctx, sc); err != nil {
		return c, fmt.Errorf("read documents: %w", err)
	}
	if c.versions, err = s.versions(ctx, sc); err != nil {
		return c, err
	}
	bucket := sc.bucket()
	uploads, err := s.objects.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &bucket})
	if err != nil {
		return c, fmt.Errorf("list uploads: %w", err)
	}
	c.uploads = map[string]bool{}
	for _, u := range uploads.Uploads {
		c.uploads[aws.ToString(u.Key)] = true
	}
	return c, nil
}

func (s *stores) lookAtDocuments(ctx context.Context, sc *scene) (map[string]bool, error) {
	found := map[string]bool{}
	all, err := s.documents.Collection(sc.collection).Find(ctx, bson.D{}, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	for all.Next(ctx) {
		id, _ := all.Current.Lookup("_id").StringValueOK()
		found[id] = true
	}
	return found, all.Err()
}

// versions lists a scene's bucket.
func (s *stores) versions(ctx context.Context, sc *scene) ([]objectVersion, error) {
	return s.versionsBelow(ctx, sc, "")
}

// versionsBelow lists a prefix, each version once: a store may repeat one at the border of two pages.
func (s *stores) versionsBelow(ctx context.Context, sc *scene, prefix string) ([]objectVersion, error) {
	var found []objectVersion
	seen := map[objectVersion]bool{}
	bucket := sc.bucket()
	pages := s3.NewListObjectVersionsPaginator(s.objects, &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list versions: %w", err)
		}
		for _, v := range entries(p.Versions, p.DeleteMarkers) {
			if !seen[v] {
				found = append(found, v)
			}
			seen[v] = true
		}
	}
	return found, nil
}

func entries(versions []types.ObjectVersion, markers []types.DeleteMarkerEntry) (out []objectVersion) {
	for _, v := range versions {
		out = append(out, objectVersion{aws.ToString(v.Key), aws.ToString(v.VersionId)})
	}
	for _, m := range markers {
		out = append(out, objectVersion{aws.ToString(m.Key), aws.ToString(m.VersionId)})
	}
	return out
}

// expect reads a scene and wants exactly what these assets have.
func (s *stores) expect(ctx context.Context, sc *scene, assets []asset) error {
	c, err := s.look(ctx, sc)
	if err != nil {
		return err
	}
	return c.expect(assets)
}

// expect compares what is there with what these assets have, no more and no less.
func (c contents) expect(assets []asset) error {
	wanted, versions := map[string]bool{}, map[string]int{}
	for _, a := range assets {
		if a.document != "" {
			wanted[a.document] = true
		}
		for _, key := range a.objects {
			versions[key]++
		}
	}
	for key := range c.documents {
		if !wanted[key] {
			return fmt.Errorf("left over: document %q (%d documents are there, %d should be)", key, len(c.documents), len(wanted))
		}
	}
	if len(c.documents) < len(wanted) {
		return fmt.Errorf("lost: %d documents are there, %d should be", len(c.documents), len(wanted))
	}
	for _, v := range c.versions {
		if versions[v.key]--; versions[v.key] < 0 {
			return fmt.Errorf("left over: version %s of object %q (%d versions are there)", v.id, v.key, len(c.versions))
		}
	}
	for key, missing := range versions {
		if missing > 0 {
			return fmt.Errorf("lost: %d versions of object %q", missing, key)
		}
	}
	for key := range c.uploads {
		return fmt.Errorf("left over: unfinished upload of %q", key)
	}
	return nil
}

// absent wants nothing of these assets to be there.
func (c contents) absent(assets []asset) error {
	gone := keys(assets)
	for _, v := range c.versions {
		if gone[v.key] {
			return fmt.Errorf("left over: version %s of object %q", v.id, v.key)
		}
	}
	for _, a := range assets {
		if c.documents[a.document] {
			return fmt.Errorf("left over: document %q", a.document)
		}
	}
	for key := range c.uploads {
		if gone[key] {
			return fmt.Errorf("left over: unfinished upload of %q", key)
		}
	}
	return nil
}
