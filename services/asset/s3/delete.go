package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
// next older one back as the current one, each time. Keys that XML cannot carry go one by one; uploads are aborted.
func (s *Store) Delete(ctx context.Context, bucket string, versions []asset.Version) []error {
	d := deletion{store: s, bucket: bucket, versions: versions, errs: make([]error, len(versions))}
	keepsVersions := sync.OnceValues(func() (bool, error) { return s.keepsVersions(ctx, bucket) })
	var batched, single []int
	for _, i := range oldestFirst(versions) {
		v := versions[i]
		switch d.errs[i] = check(v, keepsVersions); {
		case d.errs[i] != nil:
		case v.Upload || !inXML(v.Key):
			single = append(single, i)
		default:
			batched = append(batched, i)
		}
	}
	for len(batched) > 0 {
		n := min(s.sizes.get(bucket), len(batched))
		d.batch(ctx, batched[:n])
		batched = batched[n:]
	}
	var g errgroup.Group
	g.SetLimit(lanes)
	for _, i := range single {
		g.Go(func() error { d.single(ctx, i); return nil })
	}
	_ = g.Wait() // each version keeps its own error
	d.explainLocks(ctx)
	d.lookForDoubtful(ctx)
	return d.errs
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
	versions []asset.Version
	errs     []error

	mu       sync.Mutex
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
	objects := make([]types.ObjectIdentifier, len(chunk))
	for n, i := range chunk {
		objects[n] = types.ObjectIdentifier{Key: &d.versions[i].Key, VersionId: versionID(d.versions[i])}
	}
	var out *s3.DeleteObjectsOutput
	err := d.store.request(ctx, func(ctx context.Context) (err error) {
		out, err = d.store.client(d.bucket).DeleteObjects(ctx, &s3.DeleteObjectsInput{
			Bucket: &d.bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)},
		}, s3.WithAPIOptions(withContentMD5))
		return err
	})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			d.store.sizes.shrink(d.bucket, len(chunk))
		}
		err = fault("delete objects", d.bucket, err)
		for _, i := range chunk {
			d.errs[i] = err
		}
		return
	}
	d.answers(chunk, out.Errors)
}

// answers gives each version the error that the store tells of it. One that names no version of the batch could be of any:
// then none is known to be deleted.
func (d *deletion) answers(chunk []int, told []types.Error) {
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
	err := d.store.request(ctx, func(ctx context.Context) (err error) {
		if v.Upload {
			_, err = d.store.client(d.bucket).AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &d.bucket, Key: &v.Key, UploadId: &v.ID})
			return err
		}
		_, err = d.store.client(d.bucket).DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &d.bucket, Key: &v.Key, VersionId: versionID(v)})
		return err
	})
	if err != nil {
		d.refused(i, err)
	}
}

// refused notes what the store answered for one version; that it is not there any more is a success.
func (d *deletion) refused(i int, err error) {
	switch code(err) {
	case "NoSuchKey", "NoSuchVersion", "NoSuchUpload":
		return
	case "AccessDenied", "InvalidRequest", "ObjectLocked": // AWS and versitygw; MinIO; others
		d.note(&d.denied, i)
	case "InvalidArgument", "InternalError": // versitygw
		d.note(&d.doubtful, i)
	}
	d.errs[i] = fault(fmt.Sprintf("delete %q", d.versions[i].Key), d.bucket, err)
}

func (d *deletion) note(list *[]int, i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*list = append(*list, i)
}

func versionID(v asset.Version) *string {
	if v.ID == "" {
		return nil
	}
	return &v.ID
}
