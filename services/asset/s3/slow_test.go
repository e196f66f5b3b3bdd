package s3_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// H-25: the answer has status 200, and tells of keys that were not deleted.
func TestOnlyTheKeysThatWereSlowedDownAreSentAgain(t *testing.T) {
	server := s3test.Start(t)
	server.CreateBucket("assets", s3test.Enabled)
	var versions []asset.Version
	refusals := map[string]int{}
	for i := range 20 {
		key := fmt.Sprintf("p/%02d", i)
		server.Put("assets", key, "x")
		refusals[key] = i % 4 // times
	}
	server.Refuse = func(_, key, _ string) string {
		if refusals[key]--; refusals[key] >= 0 {
			return "SlowDown"
		}
		return ""
	}
	s := openOn(t, server)
	listings, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 100)
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	versions = listings[0].Versions
	for i, err := range s.Delete(t.Context(), "assets", versions) {
		if err != nil {
			t.Errorf("%s: %v", versions[i].Key, err)
		}
	}
	var sent []int
	for _, r := range server.Requests("DeleteObjects") {
		sent = append(sent, len(batchOf(t, request{body: r.Body}).Objects))
	}
	if diff := cmp.Diff([]int{20, 15, 10, 5}, sent); diff != "" {
		t.Errorf("keys sent (-want +got):\n%s", diff)
	}
	if left := server.Stored("assets"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAStoreThatAlwaysSlowsUsDownIsNoObstacle(t *testing.T) {
	server := s3test.Start(t)
	server.CreateBucket("assets", s3test.Enabled)
	server.Refuse = func(_, key, _ string) string {
		if key == "p/refused" {
			return "SlowDown"
		}
		return ""
	}
	errs := openOn(t, server).Delete(t.Context(), "assets", []asset.Version{version("p/refused", "v"), version("p/a", "v")})
	if errs[0] == nil || asset.AsBlocked(errs[0]) != nil || errs[1] != nil {
		t.Errorf("%v; want a fault that may pass, and none", errs)
	}
}

// H-45: a batch that takes too long is not sent again as it was.
func TestAStoreThatIsSlowByTheKeyGetsSmallerBatches(t *testing.T) {
	t.Parallel()
	const keys, perKey, timeout = 400, 2 * time.Millisecond, 400 * time.Millisecond
	server := s3test.Start(t)
	server.CreateBucket("assets", s3test.Enabled)
	var versions []asset.Version
	for i := range keys {
		versions = append(versions, version(fmt.Sprintf("p/%03d", i), "v"))
	}
	var mu sync.Mutex
	asked := 0
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Operation != "DeleteObjects" {
			return nil
		}
		n := strings.Count(r.Body, "<Object>")
		mu.Lock()
		asked += n
		mu.Unlock()
		<-time.After(time.Duration(n) * perKey)
		return nil
	}
	s := openSlow(t, server, timeout)
	left := versions
	for calls := 0; len(left) > 0; calls++ {
		if calls == 100 {
			t.Fatalf("%d keys are left after 100 calls", len(left))
		}
		errs := s.Delete(t.Context(), "assets", left)
		left = slices.DeleteFunc(slices.Clone(left), func(v asset.Version) bool { return errs[slices.Index(left, v)] == nil })
	}
	if asked > 3*keys {
		t.Errorf("%d deletions were asked for, of %d keys", asked, keys)
	}
	batches := server.Requests("DeleteObjects")
	if last := strings.Count(batches[len(batches)-1].Body, "<Object>"); last > 100 {
		t.Errorf("the last batch has %d keys still", last)
	}
}

func openSlow(t *testing.T, server *s3test.Server, timeout time.Duration) *s3.Store {
	t.Helper()
	return open(t, s3.Config{Endpoint: server.URL, Region: "r", AccessKey: "a", SecretKey: "s", Timeout: timeout, Backoff: time.Millisecond})
}
