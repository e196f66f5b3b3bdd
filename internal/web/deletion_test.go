package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/receipt"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestADeletionCanBeCancelledDrivenAndGivenUp(t *testing.T) {
	v, s := visit(t)
	s.Grace = time.Hour
	v.create("a")
	did := v.remove("a", "law")
	page := v.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, `action="./cancel"`) || strings.Contains(page, `action="./retry"`) || !strings.Contains(page, "begins in ") || !strings.Contains(page, "its end") {
		t.Errorf("scheduled:\n%s", page)
	}
	if to := v.post(http.StatusSeeOther, "/cancel", "id", did); to != "./deletion?id="+did {
		t.Errorf("cancelling leads to %s", to)
	}
	if page = v.get(http.StatusOK, "/deletion", "id", did); !strings.Contains(page, ">cancelled<") || strings.Contains(page, `action="./cancel"`) {
		t.Errorf("cancelled:\n%s", page)
	}
	s.Grace = 0
	did = v.remove("a", "law")
	v.post(http.StatusConflict, "/cancel", "id", did)
	s.Stall(did, "no such bucket")
	page = v.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, `action="./retry"`) || !strings.Contains(page, "no such bucket") || !strings.Contains(page, "<option>description</option>") {
		t.Errorf("stalled:\n%s", page)
	}
	v.post(http.StatusSeeOther, "/retry", "id", did)
	if diff := cmp.Diff([]dependency.Drive{{Deletions: []string{did}}}, s.Drives()); diff != "" {
		t.Error(diff)
	}
	v.post(http.StatusUnprocessableEntity, "/force", "id", did, "part", "description", "reason", "the store is gone", "confirm", "yes")
	v.get(http.StatusConflict, "/receipt", "id", did)
	v.post(http.StatusSeeOther, "/force", "id", did, "part", "description", "reason", "the store is gone", "confirm", "description")
	page = v.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, "given up: <bdi>the store is gone") || !strings.Contains(page, ">completed<") || !strings.Contains(page, "deletion completed") {
		t.Errorf("given up:\n%s", page)
	}
	keys, err := receipt.ParseKeys([]byte(v.get(http.StatusOK, "/.well-known/jwks.json")))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := receipt.Verify(v.get(http.StatusOK, "/receipt", "id", did), keys); err != nil || r.Deletion != did {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnOwnerSeesTheTimeLineWithoutTheTrail(t *testing.T) {
	v, s := visit(t)
	alice := v.as("alice")
	alice.create("a")
	did := alice.remove("a", "")
	s.Finish(did)
	page := alice.get(http.StatusOK, "/deletion", "id", did)
	if !strings.Contains(page, "deletion requested</strong> by <bdi>alice") || !strings.Contains(page, "deletion completed</strong>") || strings.Contains(page, "audit") {
		t.Error(page)
	}
}

func TestPendingFlagsAreReplayed(t *testing.T) {
	v, s := visit(t)
	v.create("a")
	did := v.remove("a", "")
	if page := v.get(http.StatusOK, "/pending"); !strings.Contains(page, `value="`+did+`"`) {
		t.Error(page)
	}
	if to := v.post(http.StatusSeeOther, "/replay", "id", did); to != "./pending?driven=1" {
		t.Errorf("it leads to %s", to)
	}
	v.post(http.StatusSeeOther, "/replay", "all", "true")
	if diff := cmp.Diff([]dependency.Drive{{Deletions: []string{did}}, {All: true}}, s.Drives()); diff != "" {
		t.Error(diff)
	}
	if page := v.get(http.StatusOK, "/pending", "driven", "1"); !strings.Contains(page, "Replayed: 1 deletion.") {
		t.Error(page)
	}
}
