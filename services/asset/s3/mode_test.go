package s3_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

func TestModeTellsLocksAndReplicas(t *testing.T) {
	server := s3test.Start(t)
	for _, bucket := range []string{"plain", "locked", "replicated", "hidden"} {
		server.CreateBucket(bucket, s3test.Enabled)
	}
	server.EnableLock("locked")
	server.Replicate("replicated")
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Bucket == "hidden" && (r.Operation == "GetObjectLockConfiguration" || r.Operation == "GetBucketReplication") {
			return s3test.Failure(403, "AccessDenied")
		}
		return nil
	}
	s := openOn(t, server)
	for bucket, want := range map[string]asset.BucketMode{
		"plain":      {Versioning: "enabled"},
		"locked":     {Versioning: "enabled", ObjectLock: true},
		"replicated": {Versioning: "enabled", Replicated: true},
		"hidden":     {Versioning: "enabled", Hidden: "object lock configuration and replication configuration"},
	} {
		mode, err := s.Mode(t.Context(), bucket)
		if diff := cmp.Diff(want, mode); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", bucket, err, diff)
		}
	}
}
