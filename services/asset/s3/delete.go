package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Delete implements asset.Blobs. Versions go in batches, the oldest of a key first: a store on files would else bring the
// next older one back as the current one, each time. Keys that XML cannot carry go one by one; uploads are aborted. What the
// store refuses because we are too fast is sent again, more slowly, as long as there is time.
func (s *Store) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	d := deletion{store: s, bucket: bucket, pace: s.pace(bucket), versions: versions, errs: make([]error, len(versions))}
	keepsVersions := sync.OnceValues(func() (bool, error) { return s.keepsVersions(ctx, bucket) })
	left := make([]int, 0, len(versions))
	for _, i := range oldestFirst(versions) {
		if d.errs[i] = check(versions[i], keepsVersions); d.errs[i] == nil {
			left = append(left, i)
		}
	}
	for range rounds {
		d.send(ctx, left)
		if left = d.slowed; len(left) == 0 || d.late {
			break
		}
		d.slowed = nil
	}
	if lifted := d.explainLocks(ctx); len(lifted) > 0 {
		d.lift(ctx, lifted)
	}
	d.lookForDoubtful(ctx)
	return d.errs
}

// rounds is how many times a version is sent in one call; what is slowed down still comes again with a later call.
const rounds = 5

// send sends versions once, in batches and one by one.
func (d *deletion) send(ctx context.Context, order []int) {
	var batched, single []int
	for _, i := range order {
		if v := d.versions[i]; v.Upload || !inXML(v.Key) {
			single = append(single, i)
		} else {
			batched = append(batched, i)
		}
	}
	for len(batched) > 0 {
		n := min(d.pace.batch(), len(batched))
		d.batch(ctx, batched[:n])
		batched = batched[n:]
	}
	var g errgroup.Group
	g.SetLimit(lanes)
	for _, i := range single {
		g.Go(func() error { d.single(ctx, i); return nil })
	}
	_ = g.Wait() // each version keeps its own error
}

// oldestFirst gives the versions' order: by key, then by age. A listing has the newest first, which tells the age of those
// that the store gives the same time.
func oldestFirst(versions []asset.Version) []int {
	order := make([]int, len(versions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		v, w := versions[i], versions[j]
		return cmp.Or(strings.Compare(v.Key, w.Key), v.Modified.Compare(w.Modified), cmp.Compare(j, i))
	})
	return order
}

// inXML tells whether a key can stand in the XML of a batch and be read back the same: XML 1.0 has no control characters,
// and its readers change line ends.
func inXML(key string) bool {
	return utf8.ValidString(key) && !strings.ContainsFunc(key, func(r rune) bool {
		return unicode.IsControl(r) || r == '\uFFFE' || r == '\uFFFF'
	})
}

// deletion is one call of Delete.
type deletion struct {
	store    *Store
	bucket   string
	pace     *pace
	versions []asset.Version
	errs     []error
	bypass   bool // governance-mode retention

	mu       sync.Mutex
	slowed   []int // refused because we are too fast
	late     bool  // there was no time for all
	denied   []int // refused in a way that an object lock may explain
	doubtful []int // refused in a way that may mean that they are gone
}

// check refuses what must not be sent.
func check(v asset.Version, keepsVersions func() (bool, error)) error {
	switch {
	case v.Key == "":
		return asset.ErrEmptyKey
	case v.ID != "":
		return nil
	case v.Upload:
		return asset.ErrNoVersion
	}
	if keeps, err := keepsVersions(); err != nil {
		return err
	} else if keeps {
		return asset.ErrNoVersion
	}
	if !inXML(v.Key) && strings.Contains("/"+v.Key+"/", "/../") {
		return fmt.Errorf("delete %q: a store could take it for another key", v.Key)
	}
	return nil
}

// batch deletes up to a batch of versions with one request.
func (d *deletion) batch(ctx context.Context, chunk []int) {
	if err := d.pace.wait(ctx, len(chunk)); err != nil {
		d.late = true
		d.fail(chunk, fault("delete objects", d.bucket, err))
		return
	}
	objects := make([]types.ObjectIdentifier, len(chunk))
	for n, i := range chunk {
		objects[n] = types.ObjectIdentifier{Key: &d.versions[i].Key, VersionId: versionID(d.versions[i])}
	}
	in := &s3.DeleteObjectsInput{Bucket: &d.bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)}}
	if d.bypass {
		in.BypassGovernanceRetention = aws.Bool(true)
	}
	var out *s3.DeleteObjectsOutput
	began := time.Now()
	err := d.store.request(ctx, func(ctx context.Context) (err error) {
		out, err = d.store.client(d.bucket).DeleteObjects(ctx, in, s3.WithAPIOptions(withContentMD5))
		return err
	})
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		d.pace.took(len(chunk), time.Since(began), d.store.timeout)
	}
	switch {
	case err == nil:
		slowedBefore := len(d.slowed)
		d.answers(chunk, out.Errors)
		d.pace.heard(len(d.slowed) > slowedBefore)
	case code(err) == "AccessDenied":
		for _, i := range chunk {
			d.refused(i, err)
		}
	default: // the SDK has tried it several times
		d.pace.heard(tooFast(code(err)))
		d.fail(chunk, fault("delete objects", d.bucket, err))
	}
}

// fail gives versions an error.
func (d *deletion) fail(chunk []int, err error) {
	for _, i := range chunk {
		d.errs[i] = err
	}
}

// answers gives each version the error that the store tells of it. One that names no version of the batch could be of any:
// then none is known to be deleted.
func (d *deletion) answers(chunk []int, told []types.Error) {
	d.fail(chunk, nil)
	index := make(map[thing][]int, len(chunk))
	for _, i := range chunk {
		t := thing{d.versions[i].Key, d.versions[i].ID}
		index[t] = append(index[t], i)
	}
	for _, e := range told {
		named := index[thing{aws.ToString(e.Key), aws.ToString(e.VersionId)}]
		if named == nil {
			named = chunk
		}
		for _, i := range named {
			d.refused(i, &smithy.GenericAPIError{Code: aws.ToString(e.Code), Message: aws.ToString(e.Message)})
		}
	}
}

// single deletes one version, or aborts one upload, with a request of its own.
func (d *deletion) single(ctx context.Context, i int) {
	v := d.versions[i]
	err := d.pace.wait(ctx, 1)
	if err == nil {
		err = d.store.request(ctx, func(ctx context.Context) (err error) {
			if v.Upload {
				_, err = d.store.client(d.bucket).AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &d.bucket, Key: &v.Key, UploadId: &v.ID})
				return err
			}
			in := &s3.DeleteObjectInput{Bucket: &d.bucket, Key: &v.Key, VersionId: versionID(v)}
			if d.bypass {
				in.BypassGovernanceRetention = aws.Bool(true)
			}
			_, err = d.store.client(d.bucket).DeleteObject(ctx, in)
			return err
		})
		d.pace.heard(tooFast(code(err)))
	}
	d.errs[i] = nil
	if err != nil {
		d.refused(i, err)
	}
}

// refused notes what the store answered for one version; that it is not there any more is a success.
func (d *deletion) refused(i int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := code(err)
	switch {
	case slices.Contains([]string{"NoSuchKey", "NoSuchVersion", "NoSuchUpload"}, c):
		return
	case tooFast(c):
		d.slowed = append(d.slowed, i)
	case slices.Contains([]string{"AccessDenied", "InvalidRequest", "ObjectLocked"}, c): // AWS and versitygw; MinIO; others
		d.denied = append(d.denied, i)
	case slices.Contains([]string{"InvalidArgument", "InternalError"}, c): // versitygw
		d.doubtful = append(d.doubtful, i)
	}
	d.errs[i] = fault(fmt.Sprintf("delete %q", d.versions[i].Key), d.bucket, err)
}

func versionID(v asset.Version) *string {
	if v.ID == "" {
		return nil
	}
	return &v.ID
}
