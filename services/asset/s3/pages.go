package s3

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tombstone-project/tombstone/services/asset"
)

// mark is where the next page of a place begins: by the markers that the store gave, versions first, then uploads.
type mark struct {
	Uploads bool   `json:"u,omitempty"`
	Key     string `json:"k,omitempty"`
	ID      string `json:"i,omitempty"` // of the version, or of the upload
	// Last are the last version and the last marker, or the last upload, of the page before: a store may repeat an entry at
	// the border.
	Last []thing `json:"l,omitempty"`
	// Cut: we cut the page after the last upload; the store gives it again, from its start.
	Cut bool `json:"c,omitempty"`
}

// Page implements asset.Blobs with one request, versions and markers first, unfinished uploads after them.
func (s *Store) Page(ctx context.Context, place asset.Place, text string, limit int) ([]asset.Version, string, error) {
	if err := place.CheckShelf(); err != nil {
		return nil, "", err
	}
	var at mark
	if text != "" {
		if err := json.Unmarshal([]byte(text), &at); err != nil {
			return nil, "", fmt.Errorf("read the mark of a page: %w", err)
		}
	}
	list, operation := s.pageOfVersions, "list versions"
	if at.Uploads {
		list, operation = s.pageOfUploads, "list uploads"
	}
	found, next, err := list(ctx, place, at, limit)
	if err != nil {
		return nil, "", fault(operation, place.Bucket, err)
	}
	found = slices.DeleteFunc(found, func(v asset.Version) bool { return slices.Contains(at.Last, thing{v.Key, v.ID}) })
	if next == nil {
		return found, "", nil
	}
	encoded, err := json.Marshal(next)
	return found, string(encoded), err
}

// pageOfVersions asks for one page of versions and markers; after the last one come the uploads.
func (s *Store) pageOfVersions(ctx context.Context, place asset.Place, at mark, limit int) ([]asset.Version, *mark, error) {
	in := &s3.ListObjectVersionsInput{Bucket: &place.Bucket, Prefix: aws.String(prefixOf(place)), EncodingType: types.EncodingTypeUrl,
		MaxKeys: pageKeys(limit), KeyMarker: optional(at.Key), VersionIdMarker: optional(at.ID)}
	var out *s3.ListObjectVersionsOutput
	err := s.request(ctx, func(ctx context.Context) (err error) {
		out, err = s.client(place.Bucket).ListObjectVersions(ctx, in)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	c := collector{place: place, limit: 2 * maxBatch} // one page is never all that it may hold
	more, err := c.addVersions(in, out)
	if err == nil && c.versions.more {
		err = errNoProgress
	}
	if err != nil || !more {
		return c.versions.found, &mark{Uploads: true}, err
	}
	return c.versions.found, &mark{Key: aws.ToString(in.KeyMarker), ID: aws.ToString(in.VersionIdMarker), Last: lastOf(c.versions.found)}, nil
}

// lastOf are the last version and the last marker of a page: one of both was the last of the listing.
func lastOf(found []asset.Version) (last []thing) {
	for _, marker := range []bool{false, true} {
		for _, v := range slices.Backward(found) {
			if v.Marker == marker {
				last = append(last, thing{v.Key, v.ID})
				break
			}
		}
	}
	return last
}

// pageOfUploads asks for unfinished uploads, as many as one request gives, and cuts the page itself, as few buckets have more
// than one such page. The uploads of the last key of an answer are left to the next one, which gives all of that key.
func (s *Store) pageOfUploads(ctx context.Context, place asset.Place, at mark, limit int) ([]asset.Version, *mark, error) {
	in := &s3.ListMultipartUploadsInput{Bucket: &place.Bucket, Prefix: aws.String(prefixOf(place)), EncodingType: types.EncodingTypeUrl,
		KeyMarker: optional(at.Key), UploadIdMarker: optional(at.ID)}
	var out *s3.ListMultipartUploadsOutput
	err := s.request(ctx, func(ctx context.Context) (err error) {
		out, err = s.client(place.Bucket).ListMultipartUploads(ctx, in)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	c := collector{place: place, limit: maxBatch}
	places := []*collector{&c}
	listed, err := addUploads(places, out)
	if err != nil {
		return nil, nil, err
	}
	var next *marker
	if aws.ToBool(out.IsTruncated) {
		n, err := nextUploads(places, out, listed, marker{at.Key, at.ID})
		if err == nil && n == (marker{at.Key, at.ID}) {
			err = errNoProgress
		}
		if err != nil {
			return nil, nil, err
		}
		next = &n
	}
	found := slices.DeleteFunc(c.uploads.found, func(v asset.Version) bool {
		return at.Cut && byKeyAndID(v, asset.Version{Key: at.Last[0].Key, ID: at.Last[0].ID}) <= 0 ||
			next != nil && next.id == "" && v.Key > next.key
	})
	slices.SortFunc(found, byKeyAndID)
	if len(found) > limit {
		found = found[:limit]
		return found, &mark{Uploads: true, Key: at.Key, ID: at.ID, Last: lastOf(found), Cut: true}, nil
	}
	if next == nil {
		return found, nil, nil
	}
	return found, &mark{Uploads: true, Key: next.key, ID: next.id, Last: lastOf(found)}, nil
}

func byKeyAndID(a, b asset.Version) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.ID, b.ID))
}

// pageKeys is how many entries one request asks for.
func pageKeys(limit int) *int32 { return aws.Int32(int32(max(1, min(limit, maxBatch)))) }

// optional leaves an empty marker out.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
