package s3_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
)

const noUploads = "<ListMultipartUploadsResult></ListMultipartUploadsResult>"

// listing answers version listings with these pages, one a marker, and upload listings with nothing.
func listing(pages map[string]string) func(r request) (int, string) {
	return func(r request) (int, string) {
		if strings.Contains(r.query, "uploads") {
			return 200, noUploads
		}
		for marker, page := range pages {
			if strings.Contains(r.query, "key-marker="+marker+"&") || marker == "" && !strings.Contains(r.query, "key-marker") {
				return 200, "<ListVersionsResult>" + page + "</ListVersionsResult>"
			}
		}
		return 500, failure("InternalError")
	}
}

func entry(key, id string) string {
	return fmt.Sprintf("<Version><Key>%s</Key><VersionId>%s</VersionId><Size>1</Size></Version>", key, id)
}

func keys(versions []asset.Version) []string {
	out := []string{}
	for _, v := range versions {
		out = append(out, v.Key+" "+v.ID)
	}
	return out
}

func TestListedKeysAreDecodedAndMarkersSentBackDecoded(t *testing.T) {
	_, s := serve(t, listing(map[string]string{
		"": "<EncodingType>url</EncodingType>" + entry("p/a+b%2Bc%01%E2%98%83", "1") +
			"<IsTruncated>true</IsTruncated><NextKeyMarker>p/a+b%2Bc%01%E2%98%83</NextKeyMarker><NextVersionIdMarker>1</NextVersionIdMarker>",
		"p%2Fa%20b%2Bc%01%E2%98%83": "<EncodingType>url</EncodingType>" + entry("p/a+b%2Bc%01%E2%98%83", "1") + entry("p/z%25", "2"),
	}))
	listings, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	want := []string{"p/a b+c\x01\u2603 1", "p/z% 2"} // the entry at the border of the pages counts once
	if diff := cmp.Diff(want, keys(listings[0].Versions)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestAStoreThatDoesNotEncodeIsTakenLiterally(t *testing.T) {
	_, s := serve(t, listing(map[string]string{"": entry("p/100%2B+", "1")}))
	listings, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	if diff := cmp.Diff([]string{"p/100%2B+ 1"}, keys(listings[0].Versions)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestWhatDoesNotBelongToThePlaceIsDropped(t *testing.T) {
	_, s := serve(t, listing(map[string]string{"": entry("other", "1") + entry("p/1/x", "2") + entry("p/10/x", "3")}))
	places := []asset.Place{{Bucket: "assets", Prefix: "p/1/"}, {Bucket: "assets", Key: "other"}, {Bucket: "assets", Key: "oth"}}
	listings, errs := s.List(t.Context(), places, 10)
	for i, want := range [][]string{{"p/1/x 2"}, {"other 1"}, {}} {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if diff := cmp.Diff(want, keys(listings[i].Versions)); diff != "" {
			t.Errorf("place %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestAListingThatDoesNotGetOn(t *testing.T) {
	const back = "<IsTruncated>true</IsTruncated><NextKeyMarker>p</NextKeyMarker>"
	for _, key := range []string{"p/x", "stranger"} {
		page := entry(key, "1") + back
		_, s := serve(t, listing(map[string]string{"": page, "p": page}))
		listings, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
		switch key {
		case "stranger":
			if errs[0] == nil {
				t.Error("nothing was seen, and that is taken for an empty place")
			}
		default: // deleting what was seen gets it on
			if errs[0] != nil || len(listings[0].Versions) != 1 || !listings[0].More {
				t.Errorf("%+v, %v; want one version and more", listings[0], errs[0])
			}
		}
	}
}

func TestManyPlacesShareOneListingOfUploads(t *testing.T) {
	f, s := serve(t, func(r request) (int, string) {
		if !strings.Contains(r.query, "uploads") {
			return 200, "<ListVersionsResult></ListVersionsResult>"
		}
		return 200, "<ListMultipartUploadsResult>" +
			"<Upload><Key>p/1/u</Key><UploadId>a</UploadId></Upload><Upload><Key>p/10/u</Key><UploadId>b</UploadId></Upload>" +
			"<Upload><Key>p/3/u</Key><UploadId>c</UploadId></Upload></ListMultipartUploadsResult>"
	})
	places := []asset.Place{{Bucket: "assets", Prefix: "p/1/"}, {Bucket: "assets", Prefix: "p/2/"}, {Bucket: "assets", Key: "p/3/u"}}
	listings, errs := s.List(t.Context(), places, 10)
	for i, want := range [][]string{{"p/1/u a"}, {}, {"p/3/u c"}} {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if diff := cmp.Diff(want, keys(listings[i].Versions)); diff != "" {
			t.Errorf("place %d (-want +got):\n%s", i, diff)
		}
	}
	shared := 0
	for _, r := range f.all() {
		if strings.Contains(r.query, "uploads") {
			shared++
		}
	}
	if shared != 1 {
		t.Errorf("%d listings of uploads, want 1", shared)
	}
}

func TestASharedListingOfManyForeignUploadsIsGivenUp(t *testing.T) {
	page := 0
	f, s := serve(t, func(r request) (int, string) {
		switch {
		case !strings.Contains(r.query, "uploads"):
			return 200, "<ListVersionsResult></ListVersionsResult>"
		case strings.Contains(r.query, "prefix=p%2F1%2F"):
			return 200, "<ListMultipartUploadsResult><Upload><Key>p/1/u</Key><UploadId>a</UploadId></Upload></ListMultipartUploadsResult>"
		case strings.Contains(r.query, "prefix=p%2F2%2F"):
			return 200, noUploads
		}
		page++
		return 200, fmt.Sprintf("<ListMultipartUploadsResult><Upload><Key>p/%d</Key><UploadId>x</UploadId></Upload>"+
			"<IsTruncated>true</IsTruncated><NextKeyMarker>p/%d</NextKeyMarker></ListMultipartUploadsResult>", 5000+page, 5000+page)
	})
	listings, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/1/"}, {Bucket: "assets", Prefix: "p/2/"}}, 10)
	for i, want := range [][]string{{"p/1/u a"}, {}} {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if diff := cmp.Diff(want, keys(listings[i].Versions)); diff != "" {
			t.Errorf("place %d (-want +got):\n%s", i, diff)
		}
	}
	if n := len(f.all()); n > 2+2+2 {
		t.Errorf("%d requests for two places", n)
	}
}
