package system

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// fetched reads an address as anybody could who has kept it.
func fetched(t *testing.T, address string) (status int, content string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// H-78: what is deleted is at none of its addresses any more: the object's own, a presigned one and one with its version,
// which are valid still, and the document's. From the acceptance on nobody gets a new one.
func TestWhatIsDeletedIsNotReachableUnderItsOldAddresses(t *testing.T) {
	s := Embedded(t)
	sys := StartWith(t, s, app.All, policyText+"grants: {default_ttl: 5s, margin: 0s}\n") // the deletion waits for the upload's end
	sys.Fill(sys.Create("mesh", "du-1"))
	const secret = "the bytes of du-1"
	size := int64(len(secret))
	up := sys.grant(t, "du-1", "file.bin", size)
	put(t, up, secret)
	down, err := sys.Download(t.Context(), "du-1", asset.ObjectRequest{Part: "payload", Name: "file.bin", TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	version, err := s.Presign(t.Context(), up.Key)
	if err != nil {
		t.Fatal(err)
	}
	document := sys.URL + "/v1/assets/du-1/documents/description"
	addresses := map[string]string{"of the object": s.Endpoint + "/" + s.Bucket + "/" + up.Key, "presigned": down.URL, "of the version": version, "of the document": document}
	for _, name := range []string{"presigned", "of the version", "of the document"} {
		if status, content := fetched(t, addresses[name]); status != http.StatusOK || name != "of the document" && content != secret {
			t.Fatalf("before, the address %s: %d %q", name, status, content)
		}
	}
	sys.Finish("du-1")
	for name, address := range addresses {
		switch status, content := fetched(t, address); status {
		case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		default:
			t.Errorf("the address %s answers %d %q", name, status, content)
		}
	}
	for name, ask := range map[string]func(context.Context) error{
		"download": func(ctx context.Context) error {
			_, err := sys.Download(ctx, "du-1", asset.ObjectRequest{Part: "payload", Name: "file.bin"})
			return err
		},
		"upload": func(ctx context.Context) error {
			_, err := sys.Upload(ctx, "du-1", asset.ObjectRequest{Part: "payload", Name: "file.bin"}, &size)
			return err
		},
	} {
		t.Run("no new "+name, func(t *testing.T) { Refused(t, ask(t.Context()), problem.Gone) })
	}
}
