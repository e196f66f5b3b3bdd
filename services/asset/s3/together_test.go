package s3_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/services/asset"
)

// shelf answers version listings like a store that holds these keys, by prefix and up to max-keys.
func shelf(keys ...string) func(r request) (int, string) {
	slices.Sort(keys)
	return shelfInOrder(keys...)
}

func shelfInOrder(keys ...string) func(r request) (int, string) {
	return func(r request) (int, string) {
		if strings.Contains(r.query, "uploads") {
			return 200, noUploads
		}
		prefix, most := asked(r)
		var page strings.Builder
		truncated := false
		for _, key := range keys {
			switch {
			case !strings.HasPrefix(key, prefix):
			case most == 0:
				truncated = true
			default:
				most--
				page.WriteString(entry(key, "v"))
			}
		}
		return 200, fmt.Sprintf("<ListVersionsResult>%s<IsTruncated>%t</IsTruncated><NextKeyMarker>x</NextKeyMarker></ListVersionsResult>", page.String(), truncated)
	}
}

// asked is what a listing asks for.
func asked(r request) (prefix string, most int) {
	query, _ := url.ParseQuery(r.query)           // the SDK's
	most, _ = strconv.Atoi(query.Get("max-keys")) // the same
	return query.Get("prefix"), most
}

// prefixes are those of the version listings.
func prefixes(requests []request) []string {
	out := []string{}
	for _, r := range requests {
		if !strings.Contains(r.query, "uploads") {
			prefix, _ := asked(r)
			out = append(out, prefix)
		}
	}
	return out
}

// placesOf are prefixes p/00/ … and what each holds in the end.
func placesOf(n int) (places []asset.Place, held []string) {
	for i := range n {
		prefix := fmt.Sprintf("p/%02d/", i)
		places, held = append(places, asset.Place{Bucket: "assets", Prefix: prefix}), append(held, prefix+"a")
	}
	return places, held
}

// wantEach fails the test unless each place was found to hold its one object.
func wantEach(t *testing.T, places []asset.Place, listings []asset.Listing, errs []error) {
	t.Helper()
	for i, place := range places {
		if errs[i] != nil || listings[i].More {
			t.Errorf("%s: more %v, %v", place.Prefix, listings[i].More, errs[i])
			continue
		}
		if diff := cmp.Diff([]string{place.Prefix + "a v"}, keys(listings[i].Versions)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", place.Prefix, diff)
		}
	}
}

func TestNeighboursShareOneListing(t *testing.T) {
	places, held := placesOf(12)
	f, s := serve(t, shelf(append(held, "p/0", "p/1/a", "p/003/a", "q/00/a")...))
	slices.Reverse(places)
	listings, errs := s.List(t.Context(), places, 10)
	wantEach(t, places, listings, errs)
	if diff := cmp.Diff([]string{"p/"}, prefixes(f.all())); diff != "" {
		t.Errorf("listings (-want +got):\n%s", diff)
	}
}

func TestWhatACommonListingHasNotPassedIsAskedForAgain(t *testing.T) {
	places, held := placesOf(20)
	for i := range 100 { // in the middle of what belongs to one place, so that the listing ends there
		held = append(held, fmt.Sprintf("p/10/%02d", i))
	}
	for _, limit := range []int{1, 1000} {
		f, s := serve(t, shelf(held...))
		listings, errs := s.List(t.Context(), places, limit)
		for i := range places {
			want := 1
			if i == 10 {
				want = min(limit, 101)
			}
			if more := i == 10 && limit == 1; errs[i] != nil || listings[i].More != more || len(listings[i].Versions) != want {
				t.Errorf("limit %d, place %d: %d versions, more %v, %v; want %d, %v", limit, i, len(listings[i].Versions), listings[i].More, errs[i], want, more)
			}
		}
		if n := len(prefixes(f.all())); n > 12 {
			t.Errorf("%d listings for 20 places of which the first ten were known from the first", n)
		}
	}
}

func TestAStoreWithAnotherOrderHasPassedNothing(t *testing.T) {
	places, held := placesOf(12)
	strangers := []string{}
	for i := range 100 {
		strangers = append(strangers, fmt.Sprintf("p/99/%d", i)) // 9, then 10
	}
	_, s := serve(t, shelfInOrder(append(strangers, held...)...)) // the first page is full of what comes last
	listings, errs := s.List(t.Context(), places, 10)
	wantEach(t, places, listings, errs)
}

func TestCommonListingsThatDoNotPayAreLeftOutForAWhile(t *testing.T) {
	places, held := placesOf(12)
	for i := range 1000 {
		held = append(held, fmt.Sprintf("p/%02d-%d/a", i%12, i))
	}
	f, s := serve(t, shelf(held...))
	tries := 0
	for range 40 {
		before := len(f.all())
		listings, errs := s.List(t.Context(), places, 10)
		wantEach(t, places, listings, errs)
		if slices.Contains(prefixes(f.all()[before:]), "p/") {
			tries++
		}
	}
	if tries < 2 || tries > 6 {
		t.Errorf("%d tries in 40 calls; want some, and fewer and fewer", tries)
	}
}

func TestARefusedCommonListingIsMadePlaceByPlace(t *testing.T) {
	places, held := placesOf(12)
	all := shelf(held...)
	_, s := serve(t, func(r request) (int, string) {
		if prefix, _ := asked(r); prefix == "p/" && !strings.Contains(r.query, "uploads") {
			return 403, failure("AccessDenied")
		}
		return all(r)
	})
	listings, errs := s.List(t.Context(), places, 10)
	wantEach(t, places, listings, errs)
}

func TestPlacesWithLettersOfSeveralBytesInCommon(t *testing.T) {
	var places []asset.Place
	var held []string
	for _, letter := range []string{"é", "è", "ê", "ë", "ę", "ē", "ĕ", "ė"} { // of two bytes, the first the same or not
		places, held = append(places, asset.Place{Bucket: "assets", Prefix: "p/" + letter + "/"}), append(held, "p/"+letter+"/a")
	}
	f, s := serve(t, shelf(held...))
	listings, errs := s.List(t.Context(), places, 10)
	wantEach(t, places, listings, errs)
	for _, prefix := range prefixes(f.all()) {
		if prefix != strings.ToValidUTF8(prefix, "") {
			t.Errorf("asked for %q", prefix)
		}
	}
}
