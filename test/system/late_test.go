package system

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// latePolicy looks again after a time in which a test has an upload land late and the id created again, on any machine.
const latePolicy = `
graph: {label: %[2]s}
grants: {default_ttl: 5s, margin: 0s}
recheck_after: 20s
kinds:
  mesh: {parts: {payload: {blobs: {bucket: %[1]s, prefix: "payload/{id}/{generation}/"}}}}
`

// TestAnUploadThatLandsAfterTheDeletionIsFoundAndRemoved: a store looks at the deadline when a PUT begins, and keeps the object
// when its last byte has come. The embedded one looks when all has come, so the object is put there past the URL.
func TestAnUploadThatLandsAfterTheDeletionIsFoundAndRemoved(t *testing.T) {
	s := Embedded(t)
	sys := StartWith(t, s, app.All, latePolicy)
	old := sys.Create("mesh", "late")
	slow := sys.grant(t, "late", "slow.bin", 9)
	sys.Finish("late")

	sys.Create("mesh", "late")
	put(t, sys.grant(t, "late", "new.bin", 7), "the new")
	before := s.Snapshot(t)
	if _, err := s.PutObject(t.Context(), slow.Key, "came late"); err != nil {
		t.Fatal(err)
	}
	Eventually(t, "the removal of what landed late", func() error {
		if diff := cmp.Diff(before, s.Snapshot(t)); diff != "" {
			return fmt.Errorf("the stores differ:\n%s", diff)
		}
		return nil
	})
	Eventually(t, "its line in the trail", func() error {
		page, err := sys.Audit(t.Context(), "late", "")
		if err != nil {
			return err
		}
		last := page.Items[len(page.Items)-1]
		if last.Type != events.TypePartErased || last.Generation != old.Generation || !strings.Contains(last.Detail, "recheck") {
			return fmt.Errorf("the last line is %+v", last)
		}
		return nil
	})
	if a, err := sys.Asset(t.Context(), "late"); err != nil || a.Status != dependency.Live {
		t.Errorf("the next generation is %s, %v", a.Status, err)
	}
}

// grant gets a URL for writing an object of the part payload.
func (s *System) grant(t *testing.T, id, name string, size int64) asset.Grant {
	t.Helper()
	grant, err := s.Upload(t.Context(), id, asset.ObjectRequest{Part: "payload", Name: name}, &size)
	if err != nil {
		t.Fatal(err)
	}
	return grant
}

// put writes an object by its URL.
func put(t *testing.T, g asset.Grant, content string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), g.Method, g.URL, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range g.Headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body) // for the message
		t.Fatalf("upload of %s: %s: %s", g.Key, answer.Status, text)
	}
}
