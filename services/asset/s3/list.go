package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tombstone-project/tombstone/services/asset"
)

// errNoProgress refuses to follow a store that sends us back to the page that it has just given.
var errNoProgress = errors.New("the listing does not get on")

// prefixOf is what a place is listed by. A key is the first of those that begin like it.
func prefixOf(p asset.Place) string { return p.Prefix + p.Key }

// holds tells whether a key belongs to a place.
func holds(p asset.Place, key string) bool {
	if p.Key != "" {
		return key == p.Key
	}
	return strings.HasPrefix(key, p.Prefix)
}

// listVersions lists versions and markers of one place until there are more than its limit, or no more.
func (s *Store) listVersions(ctx context.Context, c *collector) {
	bucket := c.place.Bucket
	in := &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: aws.String(prefixOf(c.place)), EncodingType: types.EncodingTypeUrl}
	for more := true; more; {
		in.MaxKeys = pageSize(c.limit - len(c.versions.found))
		var out *s3.ListObjectVersionsOutput
		err := s.request(ctx, func(ctx context.Context) (err error) {
			out, err = s.client(bucket).ListObjectVersions(ctx, in)
			return err
		})
		if err == nil {
			more, err = c.addVersions(in, out)
		}
		if err != nil {
			c.versions.err = fault("list versions", bucket, err)
			return
		}
	}
}

// addVersions takes a page in and turns the request into that for the next one, if one is wanted.
func (c *collector) addVersions(in *s3.ListObjectVersionsInput, out *s3.ListObjectVersionsOutput) (more bool, err error) {
	found, err := entries(out)
	last := ""
	for _, v := range found {
		c.add(&c.versions, v)
		last = max(last, v.Key)
	}
	passed := c.place.Key != "" && last > c.place.Key
	if err != nil || c.full(&c.versions) || passed || !aws.ToBool(out.IsTruncated) {
		return false, err
	}
	key, err := decoded(out.EncodingType, out.NextKeyMarker)
	if err == nil && key == aws.ToString(in.KeyMarker) && aws.ToString(out.NextVersionIdMarker) == aws.ToString(in.VersionIdMarker) {
		err = errNoProgress
	}
	in.KeyMarker, in.VersionIdMarker = &key, out.NextVersionIdMarker
	return err == nil, err
}

// pageSize asks for no more than is wanted, and two more: the first entry of a page may be the last one of the page before,
// and one above the limit tells that there is more.
func pageSize(wanted int) *int32 { return aws.Int32(int32(min(wanted+2, maxBatch))) }

// decoded gives a text of a listing as it is. We always ask for the encoded form, in which control characters survive XML;
// a store that does not know it says so by not naming it.
func decoded(encoding types.EncodingType, text *string) (string, error) {
	if encoding != types.EncodingTypeUrl {
		return aws.ToString(text), nil
	}
	key, err := url.QueryUnescape(aws.ToString(text))
	if err != nil {
		return "", fmt.Errorf("decode key: %w", err)
	}
	return key, nil
}
