package s3

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tombstone-project/tombstone/services/asset"
)

// page is one answer of a listing from the beginning of a prefix, in order of keys.
type page struct {
	entries []asset.Version
	whole   bool   // nothing comes after it
	passed  string // everything before this key is in the page
	at      time.Time
}

// page asks for the first entries below a prefix, up to a limit.
func (s *Store) page(ctx context.Context, bucket, prefix string, limit int) (p page, err error) {
	in := &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &prefix, EncodingType: types.EncodingTypeUrl,
		MaxKeys: aws.Int32(int32(min(limit, maxBatch)))}
	var out *s3.ListObjectVersionsOutput
	err = s.request(ctx, func(ctx context.Context) (err error) {
		out, err = s.client(bucket).ListObjectVersions(ctx, in)
		return err
	})
	if err != nil {
		return p, err
	}
	p.entries, err = entries(out)
	if err != nil {
		return p, err
	}
	p.at = serverTime(out.ResultMetadata)
	p.whole = !aws.ToBool(out.IsTruncated)
	byKey := func(a, b asset.Version) int { return strings.Compare(a.Key, b.Key) }
	versions, markers := p.entries[:len(out.Versions)], p.entries[len(out.Versions):]
	// A store that lists in another order than ours has passed nothing that we could tell.
	inOrder := slices.IsSortedFunc(versions, byKey) && slices.IsSortedFunc(markers, byKey)
	slices.SortStableFunc(p.entries, byKey)
	if n := len(p.entries); n > 0 && inOrder {
		p.passed = p.entries[n-1].Key
	}
	return p, nil
}

// entries are the versions and then the markers of an answer.
func entries(out *s3.ListObjectVersionsOutput) (found []asset.Version, err error) {
	add := func(key *string, v asset.Version) {
		var bad error
		if v.Key, bad = decoded(out.EncodingType, key); bad != nil {
			err = bad
		}
		found = append(found, v)
	}
	for _, v := range out.Versions {
		add(v.Key, asset.Version{ID: aws.ToString(v.VersionId), Bytes: aws.ToInt64(v.Size), Modified: aws.ToTime(v.LastModified)})
	}
	for _, m := range out.DeleteMarkers {
		add(m.Key, asset.Version{ID: aws.ToString(m.VersionId), Marker: true, Modified: aws.ToTime(m.LastModified)})
	}
	return found, err
}

// covers tells whether the page says everything that is asked about a place, and then hands it over.
func (p page) covers(c *collector) bool {
	begin := prefixOf(c.place)
	first, _ := slices.BinarySearchFunc(p.entries, begin, func(v asset.Version, key string) int { return strings.Compare(v.Key, key) })
	for _, v := range p.entries[first:] {
		if !strings.HasPrefix(v.Key, begin) {
			break
		}
		c.add(&c.versions, v)
	}
	if p.whole || c.full(&c.versions) || p.passed > begin && !holds(c.place, p.passed) {
		c.answered(p.at)
		return true
	}
	c.versions = half{}
	return false
}
