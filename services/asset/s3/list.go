package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"

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
			c.answered(serverTime(out.ResultMetadata))
			more, err = c.addVersions(in, out)
		}
		if err != nil {
			c.versions.err = fault("list versions", bucket, err)
			return
		}
	}
}

// answered notes when the store answered, unless it did before.
func (c *collector) answered(at time.Time) {
	if c.at.IsZero() {
		c.at = at
	}
}

// serverTime is the store's time of an answer, in whole seconds; zero where it does not say.
func serverTime(m middleware.Metadata) time.Time {
	at, _ := awsmiddleware.GetServerTime(m)
	return at.UTC()
}

// addVersions takes a page in and turns the request into that for the next one, if one is wanted.
func (c *collector) addVersions(in *s3.ListObjectVersionsInput, out *s3.ListObjectVersionsOutput) (more bool, err error) {
	found, err := entries(out)
	if err != nil {
		return false, err
	}
	var last asset.Version
	for _, v := range found {
		c.add(&c.versions, v)
		if v.Key > last.Key || v.Key == last.Key && !v.Modified.After(last.Modified) { // the oldest of a key comes last
			last = v
		}
	}
	truncated := aws.ToBool(out.IsTruncated)
	passed := c.place.Key != "" && last.Key > c.place.Key
	if c.full(&c.versions) || passed || !truncated {
		return false, nil
	}
	if c.place.Prefix != "" && len(c.versions.found) == c.limit { // all that comes belongs to the place
		c.versions.more = true
		return false, nil
	}
	next, err := markerOf(out.EncodingType, out.NextKeyMarker, out.NextVersionIdMarker, marker{last.Key, last.ID})
	if err != nil {
		return false, err
	}
	if next == (marker{aws.ToString(in.KeyMarker), aws.ToString(in.VersionIdMarker)}) {
		return false, c.halt(&c.versions)
	}
	in.KeyMarker, in.VersionIdMarker = &next.key, optional(next.id)
	return true, nil
}

// marker is where a listing goes on.
type marker struct{ key, id string }

// markerOf is what an answer says of that; where a store does not say it, after the last entry that it gave.
func markerOf(encoding types.EncodingType, key, id *string, last marker) (marker, error) {
	text, err := decoded(encoding, key)
	if err != nil || text == "" {
		return last, err
	}
	return marker{text, aws.ToString(id)}, nil
}

// halt ends the listing of a store that sends us back to the page that it has just given. What it gave is there, and more
// may be: once that is deleted, a listing from the start finds the rest. A page that gave nothing is no answer.
func (c *collector) halt(h *half) error {
	if len(h.found) == 0 {
		return errNoProgress
	}
	h.more = true
	return nil
}

// pageSize asks for no more than is wanted, and two more: the first entry of a page may be the last one of the page before,
// and one above the limit tells that there is more (of an exact key; of a prefix the store tells it).
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
