package web_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestADeletionNeedsTheTypedId(t *testing.T) {
	v, s := visit(t)
	id := "mesh/1 \u202e"
	v.create(id)
	page := v.get(http.StatusOK, "/delete", "id", id)
	generation := regexp.MustCompile(`name="generation" value="([^"]+)"`).FindStringSubmatch(page)
	if generation == nil || !strings.Contains(page, "Nothing depends on it") || !strings.Contains(page, `name="plan" value="1"`) {
		t.Fatal(page)
	}
	for _, confirm := range []string{"", "mesh/1", "mesh/1  ", "MESH/1 \u202e"} {
		v.post(http.StatusUnprocessableEntity, "/delete", "id", id, "confirm", confirm)
	}
	v.post(http.StatusPreconditionFailed, "/delete", "id", id, "confirm", id, "generation", "older")
	v.post(http.StatusSeeOther, "/delete", "id", id, "confirm", `mesh/1 \u202e`, "generation", generation[1], "reason", "law", "with_dependants", "true", "plan", "1")
	want := dependency.DeleteRequest{WithDependants: true, Reason: "law", IfMatch: generation[1], IfPlan: "1"}
	if got := s.Requests(); len(got) != 2 || !cmp.Equal(got[1], want) {
		t.Errorf("asked for %+v", got)
	}
	v.get(http.StatusConflict, "/delete", "id", id)
}

func TestWhatDependsOnAnAssetIsShownBeforeAndAfterARefusal(t *testing.T) {
	v, _ := visit(t)
	v.create("texture")
	v.create("scene", "texture")
	for _, path := range []string{"/delete", "/asset"} {
		page := v.get(http.StatusOK, path, "id", "texture")
		if !strings.Contains(page, `href="./asset?id=scene"`) || !strings.Contains(page, "<svg") || !strings.Contains(page, "DEPENDS_ON") {
			t.Errorf("%s:\n%s", path, page)
		}
	}
	if page := v.get(http.StatusOK, "/asset", "id", "scene"); !strings.Contains(page, `href="./asset?id=texture"`) {
		t.Errorf("what it needs is not shown:\n%s", page)
	}
	page := v.post(http.StatusConflict, "/delete", "id", "texture", "confirm", "texture")
	if !strings.Contains(page, `href="./asset?id=scene"`) || !strings.Contains(page, "has-dependants") {
		t.Errorf("the refusal:\n%s", page)
	}
}

func TestAnAssetShowsWhatItsDeletionWouldTake(t *testing.T) {
	v, s := visit(t)
	v.create("texture")
	v.create("scene", "texture")
	s.Before = func(_ context.Context, call string) error {
		if call == "Plan" {
			t.Error("a page that follows live looks into the stores")
		}
		return nil
	}
	page := v.get(http.StatusOK, "/asset", "id", "texture")
	shows(t, page, "It would be refused: 1 asset in the way", "<title>scene, stands in the way</title><rect class=\"blocker\"", "This asset alone.")
	shows(t, v.get(http.StatusOK, "/asset", "id", "scene"), "This asset alone.")
	s.Before = func(_ context.Context, call string) error {
		if call == "PlanOfGraph" {
			return problem.New(problem.TooManyAssets, "12,000 assets would go")
		}
		return nil
	}
	shows(t, v.get(http.StatusOK, "/asset", "id", "scene"), "It would be refused: <bdi>12,000 assets would go")
}

func TestThePlanIsShownBeforeTheDeletion(t *testing.T) {
	v, s := visit(t)
	v.create("texture")
	v.create("scene", "texture")
	page := v.get(http.StatusOK, "/delete", "id", "texture")
	if !strings.Contains(page, "1 asset in the way") || strings.Contains(page, `name="confirm"`) || !strings.Contains(page, "payload/texture") {
		t.Errorf("alone:\n%s", page)
	}
	page = v.get(http.StatusOK, "/delete", "id", "texture", "with_dependants", "true")
	if !strings.Contains(page, "Delete 2 assets") || !strings.Contains(page, `name="with_dependants" value="true"`) || !strings.Contains(page, `name="plan" value="2"`) ||
		!strings.Contains(page, `class="going"`) {
		t.Errorf("with what depends on it:\n%s", page)
	}
	s.Before = func(_ context.Context, call string) error {
		if call == "Plan" {
			return problem.New(problem.Unavailable, "the stores are away")
		}
		return nil
	}
	page = v.get(http.StatusOK, "/delete", "id", "scene")
	if !strings.Contains(page, "the stores are away") || !strings.Contains(page, "1 asset, of which") || !strings.Contains(page, `name="confirm"`) || !strings.Contains(page, `name="plan" value=""`) {
		t.Errorf("while the stores are away:\n%s", page)
	}
}
