package asset_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// survey reads a shelf to its end.
func (w *world) survey(shelf events.Shelf) (all []events.Lodger) {
	w.t.Helper()
	for {
		page, err := asset.NewInspector(w.config).Survey(w.t.Context(), shelf)
		if err != nil {
			w.t.Fatalf("survey: %v", err)
		}
		all = append(all, page.Lodgers...)
		if shelf.After = page.Next; shelf.After == "" {
			return all
		}
	}
}

// lodgers tells each place with what lies there, in order.
func lodgers(all []events.Lodger) (lines []string) {
	for _, l := range all {
		lines = append(lines, fmt.Sprintf("%s/%s %s %q: %s%s %s below=%t, %d things, %d bytes", l.Kind, l.Part, l.Asset, l.Generation, l.Bucket, l.Collection, l.Place,
			l.Below, l.Things, l.Bytes))
	}
	slices.Sort(lines)
	return lines
}

func TestSurveyTellsWhatLiesAtPlacesOfThePolicy(t *testing.T) {
	w := newWorld(t)
	w.mesh("a", gen1)
	w.mesh("b", gen2)
	w.put("assets", "payload/not a place", "x")
	w.put("assets", "foreign/x", "x")
	w.put("scans", "raw/a/one", "x")
	w.write("infos", "a", gen1)
	w.write("strangers", "a", gen1)
	w.same("objects", lodgers(w.survey(events.Shelf{Bucket: "assets", Prefix: "payload/"})), []string{
		`mesh/payload a "` + gen1 + `": assets payload/a/` + gen1 + `/ below=true, 5 things, 9 bytes`,
		`mesh/payload b "` + gen2 + `": assets payload/b/` + gen2 + `/ below=true, 5 things, 9 bytes`,
	})
	w.same("a whole bucket", lodgers(w.survey(events.Shelf{Bucket: "thumbs"})), []string{
		`mesh/thumbnail a "` + gen1 + `": thumbs thumbs/a/` + gen1 + `.png below=false, 1 things, 3 bytes`,
		`mesh/thumbnail b "` + gen2 + `": thumbs thumbs/b/` + gen2 + `.png below=false, 1 things, 3 bytes`,
	})
	w.same("a place without a generation", lodgers(w.survey(events.Shelf{Bucket: "scans"})), []string{
		`scan/raw a "": scans raw/a/ below=true, 1 things, 1 bytes`,
	})
	w.same("documents", lodgers(w.survey(events.Shelf{Collection: "descriptions", IDField: "_id", IDType: "string"})), []string{
		`mesh/description a "` + gen1 + `": descriptions a/` + gen1 + ` below=false, 1 things, 0 bytes`,
		`mesh/description b "` + gen2 + `": descriptions b/` + gen2 + ` below=false, 1 things, 0 bytes`,
	})
	w.same("documents that tell their generation", lodgers(w.survey(events.Shelf{Collection: "infos", IDField: "_id", IDType: "string"})), []string{
		`scan/info a "` + gen1 + `": infos a below=false, 1 things, 0 bytes`,
	})
}

func TestSurveyPagesAreBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 1000 {
		w.put("assets", fmt.Sprintf("payload/a/%s/%04d", gen1, i), "xx")
	}
	var things, bytes int64
	for _, l := range w.survey(events.Shelf{Bucket: "assets"}) {
		things, bytes = things+l.Things, bytes+l.Bytes
		if l.Things > 300 {
			t.Errorf("a page has %d things", l.Things)
		}
	}
	if things != 1000 || bytes != 2000 {
		t.Errorf("%d things, %d bytes", things, bytes)
	}
}

func TestAnObstacleIsNeverAnEmptySurvey(t *testing.T) {
	w := newWorld(t)
	inspector := asset.NewInspector(w.config)
	if _, err := inspector.Survey(t.Context(), events.Shelf{Bucket: "none"}); !errors.Is(err, problem.ListingFailed) {
		t.Errorf("a missing bucket: %v", err)
	}
	for name, shelf := range map[string]events.Shelf{"nothing": {}, "both": {Bucket: "assets", Collection: "infos"}} {
		if _, err := inspector.Survey(t.Context(), shelf); !errors.Is(err, problem.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
