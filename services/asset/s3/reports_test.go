package s3_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// H-25: a batch that came back with 200 tells of keys that it did not delete.
func TestAPartialBatchIsNotTakenForAWholeOne(t *testing.T) {
	server, v := serviceOn(t)
	for i := range 5 {
		server.Put("assets", fmt.Sprintf("a/pb-1/k%d", i), "12")
	}
	denied := true
	server.Refuse = func(_, key, _ string) string {
		if denied && (key == "a/pb-1/k2" || key == "a/pb-1/k4") {
			return "AccessDenied"
		}
		return ""
	}
	parked := v.parked("file", "pb-1", asset.ReasonAccessDenied)
	if text := parked.Error(); !strings.Contains(text, `"a/pb-1/k2"`) || !strings.Contains(text, `"a/pb-1/k4"`) {
		t.Errorf("%q does not name both keys", text)
	}
	v.stored("a/pb-1/k2 12", "a/pb-1/k4 12")
	denied = false
	objects, bytes := v.erased("pb-1")
	v.counts("once it is allowed", objects, bytes, 5, 10)
	var sent []int
	for _, r := range server.Requests("DeleteObjects") {
		sent = append(sent, strings.Count(r.Body, "<Object>"))
	}
	if diff := cmp.Diff([]int{5, 2}, sent); diff != "" {
		t.Errorf("keys sent (-want +got):\n%s", diff)
	}
}

// H-27, H-28, H-34, H-35, H-46: keys that protocols and file systems confuse, each beside one that it could be taken for.
func TestConfusingKeysGoAndTheirLikesStay(t *testing.T) {
	server, v := serviceOn(t)
	for _, c := range []struct {
		id         string
		goes, stay []string
	}{
		{"cc-1", []string{"\x01one", "\x10two.jpg", "plain", "cr\rlf\n"}, []string{"a/cc-1\x01", "a/cc-/1"}},
		{"xe", []string{"le<ft", "an&d", `q"uote`, "en]]>d", "lit&amp;eral"}, []string{"a/xe2/lit&eral", "a/xe"}},
		{"ds-1", []string{"", "sub/", "sub/f", "/double", "./dot", "../up", "sub/../f"}, []string{"a/ds-1", "a//ds-1/x", "/a/ds-1/x", "a/x/../ds-1/"}},
		{"7", []string{"x"}, []string{"a/70/x", "a/7-test/x", "a/07/x", "a/7"}},
		{"caf\u00e9", []string{"x"}, []string{"a/cafe\u0301/x"}},
		{"\u00c5", []string{"x"}, []string{"a/\u212b/x", "a/A\u030a/x"}},
		{"a+b c%", []string{"+ %25 %", strings.Repeat("z", 1024-len("a/a+b c%25/"))}, []string{"a/a b c%/x", "a/a+b+c%/x", "a/a%2Bb c%/x"}},
	} {
		place := "a/" + strings.ReplaceAll(c.id, "%", "%25") + "/"
		for _, name := range c.goes {
			server.Put("assets", place+name, "goes")
		}
		for _, key := range c.stay {
			server.Put("assets", key, "stays")
		}
		before := server.Stored("assets")
		objects, bytes := v.erased(c.id)
		v.counts(c.id, objects, bytes, int64(len(c.goes)), int64(4*len(c.goes)))
		var want []string
		for _, entry := range before {
			if !strings.HasPrefix(entry, place) {
				want = append(want, entry)
			}
		}
		v.stored(want...)
	}
}

// H-29: pages of 1,000 and batches of 1,000, none of them empty.
func TestAssetsAroundAPageAreErasedWhole(t *testing.T) {
	for n, batches := range map[int][]int{999: {999}, 1000: {1000}, 1001: {1000, 1}, 2501: {1000, 1000, 501}} {
		server, v := serviceOn(t)
		for i := range n {
			server.Put("assets", fmt.Sprintf("a/x/%d", i), "1")
		}
		objects, bytes := v.erased("x")
		v.counts(fmt.Sprint(n), objects, bytes, int64(n), int64(n))
		v.stored()
		var sent []int
		for _, r := range server.Requests("DeleteObjects") {
			sent = append(sent, strings.Count(r.Body, "<Object>"))
		}
		if diff := cmp.Diff(batches, sent); diff != "" {
			t.Errorf("batches for %d objects (-want +got):\n%s", n, diff)
		}
	}
}

// H-30: many versions and markers of few keys; the neighbour's stay.
func TestManyVersionsAndMarkersAreErased(t *testing.T) {
	server, v := serviceOn(t)
	for i := range 1200 {
		server.Put("assets", fmt.Sprintf("a/vm-1/%d", i%3), "1")
		if i%4 != 0 {
			server.DeleteCurrent("assets", fmt.Sprintf("a/vm-1/%d", i%3))
		}
		if i < 10 {
			server.Put("assets", "a/vm-10/0", "stays")
		}
	}
	objects, bytes := v.erased("vm-1")
	v.counts("versions and markers", objects, bytes, 2100, 1200)
	v.stored(strings.Split(strings.TrimSuffix(strings.Repeat("a/vm-10/0 stays,", 10), ","), ",")...)
}

// H-31: what others have deleted by key is not gone: markers cover older versions, or nothing.
func TestMarkersThatOthersLeftAreErased(t *testing.T) {
	server, v := serviceOn(t)
	for i := range 4 {
		key := fmt.Sprintf("a/dm-1/%d", i)
		server.Put("assets", key, "old")
		server.DeleteCurrent("assets", key)
		server.DeleteCurrent("assets", fmt.Sprintf("a/dm-2/%d", i))
	}
	objects, bytes := v.erased("dm-1")
	v.counts("versions under markers", objects, bytes, 8, 12)
	objects, bytes = v.erased("dm-2")
	v.counts("markers alone", objects, bytes, 4, 0)
	v.stored()
}

// H-32: what was written before versioning, and while it was suspended, has the version id "null".
func TestNullVersionsAreErased(t *testing.T) {
	server, v := serviceOn(t)
	server.CreateBucket("assets", s3test.Off)
	server.Put("assets", "a/nv-1/before", "1")
	server.Put("assets", "a/nv-1/f", "1")
	server.CreateBucket("assets", s3test.Enabled)
	server.Put("assets", "a/nv-1/f", "22")
	server.Put("assets", "a/nv-1/f", "333")
	server.CreateBucket("assets", s3test.Suspended)
	server.Put("assets", "a/nv-1/f", "4444")
	server.DeleteCurrent("assets", "a/nv-1/g")
	server.Put("assets", "a/nv-2/f", "stays")
	objects, bytes := v.erased("nv-1")
	v.counts("of all modes", objects, bytes, 5, 10)
	v.stored("a/nv-2/f stays")
}

// H-33: unfinished uploads show in no listing of objects.
func TestUnfinishedUploadsAreAborted(t *testing.T) {
	server, v := serviceOn(t)
	server.BeginUpload("assets", "a/mp-1/big.bin")
	server.BeginUpload("assets", "a/mp-1/big.bin")
	server.BeginUpload("assets", "a/mp-2/big.bin")
	server.BeginUpload("assets", "icons/mp-1")
	server.BeginUpload("assets", "icons/mp-10")
	v.erased("mp-1")
	v.stored("a/mp-2/big.bin upload", "icons/mp-10 upload")
}

// TestManyUnfinishedUploadsAreAborted leaves more than a page of them, of many keys and of one, also where no marker leads from
// one page of a key to the next.
//
// H-33: however many there are.
func TestManyUnfinishedUploadsAreAborted(t *testing.T) {
	for name, quirks := range map[string]s3test.Quirks{"by the book": {}, "upload ids in markers refused": {RefusesUploadIDs: true}} {
		t.Run(name, func(t *testing.T) {
			server, v := serviceOn(t)
			server.Quirks = quirks
			for i := range 1100 {
				server.BeginUpload("assets", fmt.Sprintf("a/mp-1/%04d", i))
				server.BeginUpload("assets", "a/mp-1/one")
				server.BeginUpload("assets", fmt.Sprintf("icons/mp-1%04d", i))
			}
			server.BeginUpload("assets", "icons/mp-1")
			objects, bytes := v.erased("mp-1")
			v.counts("uploads", objects, bytes, 2201, 0)
			if left := server.Stored("assets"); len(left) != 1100 || !strings.HasPrefix(left[0], "icons/mp-10000 ") {
				t.Errorf("%d uploads are left, the first is %s; want the 1,100 of others", len(left), left[0])
			}
		})
	}
}

// TestUploadsOfALongerNameAreNotGoneThrough lets a name that begins like ours fill a page, on a store where no marker leads from
// one page of a key to the next.
//
// H-33: what others left unfinished does not keep ours from being seen gone.
func TestUploadsOfALongerNameAreNotGoneThrough(t *testing.T) {
	server, v := serviceOn(t)
	server.Quirks = s3test.Quirks{PageSize: 1, RefusesUploadIDs: true}
	server.BeginUpload("assets", "icons/ln-1")
	server.BeginUpload("assets", "icons/ln-10")
	server.BeginUpload("assets", "icons/ln-10")
	v.erased("ln-1")
	v.stored("icons/ln-10 upload", "icons/ln-10 upload")
}

// TestAPageOfUploadsThatBeginsWithTheLastOneEnds lists where the page behind a key begins with that key, whose uploads fill a page.
func TestAPageOfUploadsThatBeginsWithTheLastOneEnds(t *testing.T) {
	server, v := serviceOn(t)
	server.Quirks = s3test.Quirks{PageSize: 2, RepeatsAtBorders: true}
	for _, key := range []string{"a/rp-1/1", "a/rp-1/1", "a/rp-1/1", "a/rp-1/2", "a/rp-1/2", "a/rp-1/3"} {
		server.BeginUpload("assets", key)
	}
	objects, bytes := v.erased("rp-1")
	v.counts("uploads", objects, bytes, 6, 0)
	v.stored()
}

// TestManyUnfinishedUploadsAreSeenOnce pages through more of them than an answer holds.
func TestManyUnfinishedUploadsAreSeenOnce(t *testing.T) {
	for name, quirks := range map[string]s3test.Quirks{"by the book": {}, "upload ids in markers refused": {RefusesUploadIDs: true}} {
		t.Run(name, func(t *testing.T) {
			server, v := serviceOn(t)
			server.Quirks = quirks
			seen := map[string]int{}
			for i := range 2300 {
				seen[server.BeginUpload("assets", fmt.Sprintf("a/%d/x", i/3))] = 0
			}
			for mark, first := "", true; first || mark != ""; first = false {
				versions, next, err := v.config.Blobs.Page(t.Context(), asset.Place{Bucket: "assets"}, mark, 300)
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range versions {
					seen[u.ID]++
				}
				mark = next
			}
			for id, n := range seen {
				if n != 1 {
					t.Errorf("upload %s is told %d times", id, n)
				}
			}
		})
	}
}

// H-38: a missing bucket is no empty place.
func TestAMissingBucketBlocksUntilItIsThere(t *testing.T) {
	server := s3test.Start(t)
	v := newService(t, server)
	v.blocks("file", "x", asset.ReasonBucketMissing)
	server.CreateBucket("assets", s3test.Enabled)
	server.Put("assets", "a/x/1", "1")
	v.erased("x")
	v.stored()
}

// H-40: what a lock keeps stays, everything else goes, and the end of the lock ends it.
func TestALockKeepsItsObjectAndNothingElse(t *testing.T) {
	server, v := serviceOn(t)
	server.EnableLock("assets")
	until := time.Now().Add(10 * time.Minute).UTC().Truncate(time.Second)
	server.Put("assets", "a/ol-1/locked", "1")
	server.Retain("assets", "a/ol-1/locked", "COMPLIANCE", until)
	server.Put("assets", "a/ol-1/free", "1")
	server.Put("assets", "icons/ol-1", "1")
	server.Put("assets", "a/ol-2/free", "1")
	parked := v.parked("file", "ol-1", asset.ReasonObjectLocked)
	if parked.Until == nil || !parked.Until.Equal(until) || parked.Part != "body" {
		t.Errorf("part %s until %v, want body until %v", parked.Part, parked.Until, until)
	}
	v.erased("ol-2")
	v.stored("a/ol-1/locked 1")
	server.Retain("assets", "a/ol-1/locked", "COMPLIANCE", time.Now().Add(-time.Second))
	server.Hold("assets", "a/ol-1/locked", true)
	if parked := v.parked("file", "ol-1", asset.ReasonObjectLocked); parked.Until != nil {
		t.Errorf("a legal hold until %v", parked.Until)
	}
	server.Hold("assets", "a/ol-1/locked", false)
	objects, bytes := v.erased("ol-1")
	v.counts("once it is free", objects, bytes, 3, 3)
	v.stored()
}

// H-40: governance mode is bypassed where the policy says so, with the header on nothing but what is under it.
func TestGovernanceIsBypassedWhereThePolicyAllowsIt(t *testing.T) {
	server, v := serviceOn(t)
	server.Put("assets", "k/free/1", "1")
	if err := v.erase("kept", "free", 1); err != nil {
		t.Fatal(err)
	}
	server.EnableLock("assets")
	until := time.Now().Add(time.Hour)
	for _, place := range []string{"a/g-1", "k/g-2"} {
		for i := range 30 {
			server.Put("assets", fmt.Sprintf("%s/%d", place, i), "1")
			server.Retain("assets", fmt.Sprintf("%s/%d", place, i), "GOVERNANCE", until)
		}
		server.Put("assets", fmt.Sprintf("%s/\x01", place), "1")
		server.Retain("assets", fmt.Sprintf("%s/\x01", place), "GOVERNANCE", until)
	}
	v.blocks("file", "g-1", asset.ReasonObjectLocked)
	if n := len(server.Stored("assets")); n != 62 {
		t.Errorf("%d objects are left, want all 62", n)
	}
	if err := v.erase("kept", "g-2", 1); err != nil {
		t.Errorf("where the policy allows it: %v", err)
	}
	if n := len(server.Stored("assets")); n != 31 {
		t.Errorf("%d objects are left, want the 31 of the other asset", n)
	}
	server.Put("assets", "k/g-3/1", "1")
	server.Retain("assets", "k/g-3/1", "COMPLIANCE", until)
	v.blocks("kept", "g-3", asset.ReasonObjectLocked)
	server.Put("assets", "k/g-4/1", "1")
	server.Retain("assets", "k/g-4/1", "GOVERNANCE", until)
	server.Meddle = func(r s3test.Request) *s3test.Answer {
		if r.Header.Get("X-Amz-Bypass-Governance-Retention") != "" {
			return s3test.Failure(403, "AccessDenied")
		}
		return nil
	}
	if parked := v.parked("kept", "g-4", asset.ReasonObjectLocked); parked.Until == nil {
		t.Errorf("without the right to bypass: %v", parked)
	}
}

// H-41: a clock that is off by 20 minutes is set right by the answer's date, or named.
func TestAClockThatIsOff(t *testing.T) {
	server, v := serviceOn(t)
	server.Put("assets", "a/x/1", "1")
	server.Meddle = func(s3test.Request) *s3test.Answer { return s3test.Failure(403, "RequestTimeTooSkewed") }
	v.blocks("file", "x", asset.ReasonClockSkew)
	server.Meddle = nil
	server.Now = func() time.Time { return time.Now().Add(20 * time.Minute) }
	v.erased("x")
	v.stored()
}

// H-44: for some looks a store lists what it has deleted.
func TestAListingThatLagsBehindIsWaitedFor(t *testing.T) {
	server, v := serviceOn(t)
	server.Quirks.Lag = 6
	for i := range 10 {
		server.Put("assets", fmt.Sprintf("a/ec-1/%d", i), "1")
	}
	for attempt := 1; ; attempt++ {
		err := v.erase("file", "ec-1", attempt)
		if err == nil {
			break
		}
		if asset.AsBlocked(err) != nil || attempt == 20 {
			t.Fatalf("attempt %d: %v", attempt, err)
		}
	}
	objects, bytes := v.reported("ec-1")
	v.counts("each once", objects, bytes, 10, 10)
	if n := len(server.Requests("DeleteObjects")); n >= 10 {
		t.Errorf("%d batches", n)
	}
}
