package s3_test

import (
	"fmt"
	"testing"

	driver "github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/asset"
)

// TestMoreUploadsThanAPageOnARealStore leaves them on versitygw, which refuses the markers that it gives: of many keys, and then
// of one.
//
// H-33: however many there are.
func TestMoreUploadsThanAPageOnARealStore(t *testing.T) {
	c := servers["embedded"](t)
	r, s := newRaw(c), open(t, c)
	bucket := r.newBucket(t, "enabled")
	var g errgroup.Group
	g.SetLimit(16)
	for i := range 1010 {
		for _, key := range []string{fmt.Sprintf("a/x/%04d", i), "a/y/one"} {
			g.Go(func() error {
				_, err := r.CreateMultipartUpload(t.Context(), &driver.CreateMultipartUploadInput{Bucket: &bucket, Key: &key})
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"a/x/", "a/y/"} {
		aborted := 0
		for more := true; more; {
			listings, errs := s.List(t.Context(), []asset.Place{{Bucket: bucket, Prefix: prefix}}, 1000)
			if errs[0] != nil {
				t.Fatal(errs[0])
			}
			for _, err := range s.Delete(t.Context(), bucket, listings[0].Versions) {
				if err != nil {
					t.Fatal(err)
				}
			}
			aborted, more = aborted+len(listings[0].Versions), listings[0].More
		}
		if aborted != 1010 {
			t.Errorf("%s: %d uploads aborted, want 1,010", prefix, aborted)
		}
	}
	if left, _, err := s.Page(t.Context(), asset.Place{Bucket: bucket}, `{"u":true}`, 1000); err != nil || len(left) > 0 {
		t.Errorf("%d uploads are left, %v", len(left), err)
	}
}
