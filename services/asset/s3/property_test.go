package s3_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset/s3/s3test"
)

// alphabet are pieces that URLs, XML, paths and listings confuse; ids are made of them too, as far as an id may hold them.
var alphabet = []string{
	"1", "0", "a", "A", "+", " ", "%", "%2F", "%25", `"`, "'", "&", "&amp;", "<", ">", "]]>", "/", "//", ".", "..", "./", "../", "~", "*", "?", "#", "\\",
	"\u00e9", "e\u0301", "\u212b", "\u00c5", "\u2028", "\ufffd", "\U0001F9CA", "\x01", "\x10", "\r", "\n", "\t", "\x7f", strings.Repeat("z", 300),
}

// TestExactlyTheKeysOfDeletedAssetsAreGone makes random assets with random objects, on stores with random ways, deletes some
// of them, and compares the whole bucket with what was there before.
func TestExactlyTheKeysOfDeletedAssetsAreGone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		server := s3test.Start(t)
		server.CreateBucket("assets", s3test.Enabled)
		server.Quirks = s3test.Quirks{
			PageSize:         rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(r, "page size"),
			RepeatsAtBorders: rapid.Bool().Draw(r, "repeats"),
			DropsMarkers:     rapid.Bool().Draw(r, "drops markers"),
			RefusesUploadIDs: rapid.Bool().Draw(r, "refuses upload ids"),
			Lag:              rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(r, "lag"),
		}
		if server.Quirks.PageSize == 1 {
			server.Quirks.RepeatsAtBorders = false // it would never get on
		}
		v := newService(t, server)
		ids := rapid.SliceOfNDistinct(rapid.Custom(drawID), 1, 6, rapid.ID[string]).Draw(r, "ids")
		for i := range rapid.IntRange(0, 25).Draw(r, "objects") {
			drawObject(r, server, placesOfID(r, v, rapid.SampledFrom(ids).Draw(r, "owner")), i)
		}
		gone := rapid.SliceOfDistinct(rapid.SampledFrom(ids), rapid.ID[string]).Draw(r, "deleted")
		want := server.Stored("assets")
		for _, id := range gone {
			places := placesOfID(r, v, id)
			want = slices.DeleteFunc(want, func(entry string) bool {
				return slices.ContainsFunc(places, func(l policy.Location) bool { return in(l, entry) })
			})
		}
		for _, id := range gone {
			eraseInTheEnd(r, v, id)
		}
		if diff := cmp.Diff(want, server.Stored("assets"), cmpopts.EquateEmpty()); diff != "" {
			r.Fatalf("what is left (-want +got):\n%s", diff)
		}
	})
}

// drawID makes an id without what ids must not hold.
func drawID(r *rapid.T) string {
	var id strings.Builder
	for _, piece := range rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 4).Draw(r, "id") {
		if strings.Trim(piece, "\x01\x10\r\n\t\x7f") != "" && id.Len()+len(piece) < 200 && piece != "e\u0301" && piece != "\u212b" {
			id.WriteString(piece)
		}
	}
	if id.Len() == 0 {
		return "empty"
	}
	return id.String()
}

// placesOfID are where the parts of an asset are, in its first generation.
func placesOfID(r *rapid.T, v *service, id string) (places []policy.Location) {
	kind, _ := v.config.Policy.Kind("file")
	for _, part := range kind.Parts {
		l, err := part.Location(policy.Subject{ID: id, Owner: "acme", Kind: "file", Generation: generation})
		if err != nil {
			r.Skip(err) // longer than a store takes
		}
		places = append(places, l)
	}
	return places
}

// in tells whether an entry of a bucket is at a place.
func in(l policy.Location, entry string) bool {
	if l.Key != "" {
		key := entry[:strings.LastIndexByte(entry, ' ')]
		return key == l.Key
	}
	return strings.HasPrefix(entry, l.Prefix)
}

// drawObject puts something at one of the places, or beside it.
func drawObject(r *rapid.T, server *s3test.Server, places []policy.Location, n int) {
	l := rapid.SampledFrom(places).Draw(r, "place")
	name := strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 5).Draw(r, "name"), "")
	key := l.Key
	if l.Prefix != "" {
		key = l.Prefix + name
	}
	switch rapid.IntRange(0, 4).Draw(r, "beside") {
	case 0: // a sibling, whose name begins like this one's
		key = strings.TrimSuffix(l.Prefix+l.Key, "/") + name
	case 1: // the next generation's
		key = strings.ReplaceAll(key, generation, regenerated)
	}
	key = strings.ToValidUTF8(key[:min(len(key), 1024)], "")
	for _, what := range rapid.SliceOfN(rapid.SampledFrom([]string{"put", "put", "put", "upload", "delete", "suspend", "enable"}), 1, 4).Draw(r, "what") {
		switch what {
		case "put":
			server.Put("assets", key, fmt.Sprint(n))
		case "upload":
			server.BeginUpload("assets", key)
		case "delete":
			server.DeleteCurrent("assets", key)
		case "suspend":
			server.CreateBucket("assets", s3test.Suspended)
		case "enable":
			server.CreateBucket("assets", s3test.Enabled)
		}
	}
}

// eraseInTheEnd gives the command again as long as it may still succeed.
func eraseInTheEnd(r *rapid.T, v *service, id string) {
	for attempt := 1; ; attempt++ {
		switch err := v.erase("file", id, attempt); {
		case err == nil:
			return
		case attempt == 5:
			r.Fatalf("erase %q: %v", id, err)
		}
	}
}
