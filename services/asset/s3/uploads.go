package s3

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tombstone-project/tombstone/services/asset"
)

// listUploads lists the unfinished uploads of several places of one bucket: by the prefix that all have in common, as long
// as that takes no more requests than asking for each place would, and then place by place.
func (s *Store) listUploads(ctx context.Context, bucket string, places []*collector) {
	pages := len(places)
	if len(places) == 1 {
		pages = 0 // as many as it takes
	}
	done, err := s.uploadsBelow(ctx, bucket, commonPrefix(places), places, pages)
	if err == nil && !done {
		for _, c := range places {
			c.uploads = half{}
			if _, err = s.uploadsBelow(ctx, bucket, prefixOf(c.place), []*collector{c}, 0); err != nil {
				break
			}
		}
	}
	if err != nil {
		for _, c := range places {
			c.uploads.err = fault("list uploads", bucket, err)
		}
	}
}

// uploadsBelow lists what is below a prefix and hands it to the places; done is false when the pages did not suffice (0:
// without bound).
func (s *Store) uploadsBelow(ctx context.Context, bucket, prefix string, places []*collector, pages int) (done bool, err error) {
	in := &s3.ListMultipartUploadsInput{Bucket: &bucket, Prefix: &prefix, EncodingType: types.EncodingTypeUrl}
	for page := 1; pages == 0 || page <= pages; page++ {
		var out *s3.ListMultipartUploadsOutput
		err := s.request(ctx, func(ctx context.Context) (err error) {
			out, err = s.client(bucket).ListMultipartUploads(ctx, in)
			return err
		})
		if err != nil {
			return false, err
		}
		last, err := addUploads(places, out)
		if err != nil {
			return false, err
		}
		if !aws.ToBool(out.IsTruncated) || allFull(places) {
			return true, nil
		}
		next, err := markerOf(out.EncodingType, out.NextKeyMarker, out.NextUploadIdMarker, last)
		if err != nil {
			return false, err
		}
		if next == (marker{aws.ToString(in.KeyMarker), aws.ToString(in.UploadIdMarker)}) {
			if len(places) > 1 {
				return false, nil
			}
			return true, places[0].halt(&places[0].uploads)
		}
		in.KeyMarker, in.UploadIdMarker = &next.key, optional(next.id)
	}
	return false, nil
}

// addUploads hands the uploads of a page to the places that they belong to, and gives the last one.
func addUploads(places []*collector, out *s3.ListMultipartUploadsOutput) (last marker, err error) {
	for _, u := range out.Uploads {
		key, err := decoded(out.EncodingType, u.Key)
		if err != nil {
			return last, err
		}
		last = marker{key, aws.ToString(u.UploadId)}
		for _, c := range places {
			c.add(&c.uploads, asset.Version{Key: key, ID: aws.ToString(u.UploadId), Upload: true, Modified: aws.ToTime(u.Initiated)})
		}
	}
	return last, nil
}

func allFull(places []*collector) bool {
	for _, c := range places {
		if !c.full(&c.uploads) {
			return false
		}
	}
	return true
}

// common is the longest text that all places begin with.
func common(places []*collector) string {
	begin := prefixOf(places[0].place)
	for _, c := range places[1:] {
		other := prefixOf(c.place)
		n := 0
		for n < min(len(begin), len(other)) && begin[n] == other[n] {
			n++
		}
		begin = begin[:n]
	}
	return begin
}

// commonPrefix is that, cut to whole characters, to ask for.
func commonPrefix(places []*collector) string { return strings.ToValidUTF8(common(places), "") }
