package s3

import (
	"context"
	"slices"
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
		at := marker{aws.ToString(in.KeyMarker), aws.ToString(in.UploadIdMarker)}
		if at.id != "" && refusesMarker(err) {
			return haltUploads(places)
		}
		if err != nil {
			return false, err
		}
		listed, err := addUploads(places, out)
		if err != nil {
			return false, err
		}
		if !aws.ToBool(out.IsTruncated) || allFull(places) || passed(places, listed) {
			return true, nil
		}
		next, err := nextUploads(places, out, listed, at)
		if err != nil {
			return false, err
		}
		if next == at {
			return haltUploads(places)
		}
		in.KeyMarker, in.UploadIdMarker = &next.key, optional(next.id)
	}
	return false, nil
}

// haltUploads ends a listing that does not get on: what one place was found to have is aborted, and the listing after that,
// from the start, finds the rest. For several places it says nothing.
func haltUploads(places []*collector) (done bool, err error) {
	if len(places) > 1 {
		return false, nil
	}
	return true, places[0].halt(&places[0].uploads)
}

// refusesMarker tells the refusals of a marker that the store itself gave, or whose upload has gone since.
func refusesMarker(err error) bool {
	return slices.Contains([]string{"InvalidArgument", "NoSuchUpload"}, code(err))
}

// nextUploads is where a listing goes on: behind what was seen for good. Only from a key of ours that fills a page on it goes by
// upload ids, as versitygw 1.8 refuses its own; and from then on to the end, as there are stores whose page behind a key begins
// with that key.
func nextUploads(places []*collector, out *s3.ListMultipartUploadsOutput, listed []marker, at marker) (marker, error) {
	if n := seenForGood(places, listed); n > 0 && at.id == "" && listed[n-1].key > at.key {
		return marker{key: listed[n-1].key}, nil
	}
	var last marker
	if len(listed) > 0 {
		last = listed[len(listed)-1]
	}
	return markerOf(out.EncodingType, out.NextKeyMarker, out.NextUploadIdMarker, last)
}

// seenForGood counts the uploads of a page that need not come again: all but those of its last key, of which the next page may
// hold more; and those, too, if the key is none of ours. 0 where they are not in order.
func seenForGood(places []*collector, listed []marker) int {
	if !ordered(listed) {
		return 0
	}
	last := listed[len(listed)-1].key
	if slices.ContainsFunc(places, func(c *collector) bool { return holds(c.place, last) }) {
		return beforeLastKey(listed)
	}
	return len(listed)
}

func byKey(a, b marker) int { return strings.Compare(a.key, b.key) }

// ordered tells whether the uploads of a page are in the order of their keys; nothing is not.
func ordered(listed []marker) bool { return len(listed) > 0 && slices.IsSortedFunc(listed, byKey) }

// beforeLastKey counts the uploads of a page that come before those of its last key; 0 where they are not in order.
func beforeLastKey(listed []marker) int {
	if !ordered(listed) {
		return 0
	}
	n, _ := slices.BinarySearchFunc(listed, listed[len(listed)-1], byKey)
	return n
}

// passed tells whether the one place, a key, lies before the last key of the page.
func passed(places []*collector, listed []marker) bool {
	n := beforeLastKey(listed)
	return n > 0 && len(places) == 1 && places[0].place.Key != "" && listed[n].key > places[0].place.Key
}

// addUploads hands the uploads of a page to the places that they belong to, and tells all of them.
func addUploads(places []*collector, out *s3.ListMultipartUploadsOutput) (listed []marker, err error) {
	for _, u := range out.Uploads {
		key, err := decoded(out.EncodingType, u.Key)
		if err != nil {
			return nil, err
		}
		listed = append(listed, marker{key, aws.ToString(u.UploadId)})
		for _, c := range places {
			c.add(&c.uploads, asset.Version{Key: key, ID: aws.ToString(u.UploadId), Upload: true, Modified: aws.ToTime(u.Initiated)})
		}
	}
	return listed, nil
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
