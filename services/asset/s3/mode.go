package s3

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tombstone-project/tombstone/services/asset"
)

// modeTrust is how long a bucket is taken to keep versions as it did.
const modeTrust = 10 * time.Second

// modes remembers how buckets keep versions, for a short time.
type modes struct {
	mu    sync.Mutex
	known map[string]knownMode
}

type knownMode struct {
	versioning string
	until      time.Time
}

func (m *modes) get(bucket string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[bucket]
	return k.versioning, time.Now().Before(k.until)
}

func (m *modes) set(bucket, versioning string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]knownMode{}
	}
	m.known[bucket] = knownMode{versioning, time.Now().Add(modeTrust)}
}

// Mode implements asset.Blobs; it always asks the store. A store that knows nothing of object locks or replicas, or does
// not let us ask, counts as one without.
func (s *Store) Mode(ctx context.Context, bucket string) (asset.BucketMode, error) {
	versioning, err := s.askVersioning(ctx, bucket)
	if err != nil {
		return asset.BucketMode{}, err
	}
	mode := asset.BucketMode{Versioning: versioning}
	err = s.request(ctx, func(ctx context.Context) error {
		out, err := s.client(bucket).GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: &bucket})
		if err == nil && out.ObjectLockConfiguration != nil {
			mode.ObjectLock = out.ObjectLockConfiguration.ObjectLockEnabled == types.ObjectLockEnabledEnabled
		}
		return err
	})
	if err != nil && !unset(err) {
		return asset.BucketMode{}, fault("read object lock", bucket, err)
	}
	hidden := hides(err, "object lock configuration")
	err = s.request(ctx, func(ctx context.Context) error {
		out, err := s.client(bucket).GetBucketReplication(ctx, &s3.GetBucketReplicationInput{Bucket: &bucket})
		if err == nil && out.ReplicationConfiguration != nil {
			mode.Replicated = len(out.ReplicationConfiguration.Rules) > 0
		}
		return err
	})
	if err != nil && !unset(err) {
		return asset.BucketMode{}, fault("read replication", bucket, err)
	}
	mode.Hidden = strings.Join(append(hidden, hides(err, "replication configuration")...), " and ")
	return mode, nil
}

// hides names a setting that we may not ask for.
func hides(err error, setting string) []string {
	if code(err) == "AccessDenied" {
		return []string{setting}
	}
	return nil
}

// unset tells the errors that mean that a bucket has no such setting.
func unset(err error) bool {
	switch c := code(err); c {
	case "NotImplemented", "MethodNotAllowed", "AccessDenied", "NoSuchReplicationConfiguration":
		return true
	default:
		return strings.HasSuffix(c, "NotFoundError")
	}
}

// askVersioning asks how a bucket keeps versions, and remembers it.
func (s *Store) askVersioning(ctx context.Context, bucket string) (string, error) {
	versioning := "off"
	err := s.request(ctx, func(ctx context.Context) error {
		out, err := s.client(bucket).GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &bucket})
		if err == nil && out.Status != "" {
			versioning = strings.ToLower(string(out.Status))
		}
		return err
	})
	if err != nil {
		return "", fault("read versioning", bucket, err)
	}
	s.modes.set(bucket, versioning)
	return versioning, nil
}

// keepsVersions tells whether a bucket has, or once had, versions.
func (s *Store) keepsVersions(ctx context.Context, bucket string) (bool, error) {
	versioning, known := s.modes.get(bucket)
	if !known {
		var err error
		if versioning, err = s.askVersioning(ctx, bucket); err != nil {
			return true, err
		}
	}
	return versioning != "off", nil
}
