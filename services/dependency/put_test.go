package dependency_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func TestPutCreatesChangesOrSaysTheSame(t *testing.T) {
	b := newBench(t)
	b.create("bare", "base")
	a := b.create("item", "x", needs("base"))
	if a.Status != dependency.Live || a.Owner != "acme" || len(a.Links) != 1 || a.Parts["note"].Status != dependency.PartPresent || a.Parts["note"].Generation != a.Generation {
		t.Errorf("created: %s", pretty(a))
	}
	b.advance(time.Minute)
	same, outcome, err := b.PutAsset(b.ctx, "x", dependency.Put{Kind: "item"})
	if err != nil || outcome != dependency.Changed || pretty(same) != pretty(a) {
		t.Errorf("the same again: %v %v\n%s\n%s", outcome, err, pretty(a), pretty(same))
	}
	none := []dependency.LinkTo{}
	changed, _, err := b.PutAsset(b.ctx, "x", dependency.Put{Kind: "item", Attributes: map[string]any{"state": "done"}, Links: &none})
	if err != nil || changed.Generation != a.Generation || changed.Attributes["state"] != "done" || len(changed.Links) != 0 || !changed.UpdatedAt.After(a.UpdatedAt) {
		t.Errorf("changed: %v %s", err, pretty(changed))
	}
	if got := b.asset("x"); pretty(got) != pretty(changed) {
		t.Errorf("GET differs from what PUT answered:\n%s\n%s", pretty(changed), pretty(got))
	}
}

func TestRefusalsOfPuts(t *testing.T) {
	b := newBench(t)
	b.create("item", "mine")
	b.create("slow", "leaving")
	b.del("leaving")
	foreign := func(id string) {
		if _, _, err := b.PutAsset(b.as("globex"), id, dependency.Put{Kind: "bare"}); err != nil {
			t.Fatal(err)
		}
	}
	foreign("theirs")
	link := func(kind, to string) *[]dependency.LinkTo { return &[]dependency.LinkTo{{Type: kind, To: to}} }
	negative, tooMany := int64(-1), int64(1<<50+1)
	cases := []struct {
		name  string
		id    string
		put   dependency.Put
		want  problem.Name
		field string
	}{
		{"empty id", "", dependency.Put{Kind: "item"}, problem.InvalidID, "id"},
		{"long id", strings.Repeat("x", 257), dependency.Put{Kind: "item"}, problem.InvalidID, "id"},
		{"control character", "a\tb", dependency.Put{Kind: "item"}, problem.InvalidID, "id"},
		{"not NFC", "cafe\u0301", dependency.Put{Kind: "item"}, problem.InvalidID, "id"},
		{"unknown kind", "new", dependency.Put{Kind: "zebra"}, problem.UnknownKind, "kind"},
		{"kind changed", "mine", dependency.Put{Kind: "bare"}, problem.KindChanged, "kind"},
		{"negative bytes", "new", dependency.Put{Kind: "item", Bytes: &negative}, problem.InvalidRequest, "bytes"},
		{"more bytes than a sum has room for", "new", dependency.Put{Kind: "item", Bytes: &tooMany}, problem.InvalidRequest, "bytes"},
		{"unknown link type", "new", dependency.Put{Kind: "item", Links: link("LOVES", "mine")}, problem.UnknownLinkType, "links[0]"},
		{"self-link", "new", dependency.Put{Kind: "item", Links: link("NEEDS", "new")}, problem.SelfLink, "links[0]"},
		{"missing target", "new", dependency.Put{Kind: "item", Links: link("NEEDS", "nobody")}, problem.LinkTargetNotFound, "links[0].to"},
		{"foreign target", "new", dependency.Put{Kind: "item", Links: link("NEEDS", "theirs")}, problem.LinkTargetNotFound, "links[0].to"},
		{"tombstoned target", "new", dependency.Put{Kind: "item", Links: link("NEEDS", "leaving")}, problem.LinkTargetDeleting, "links[0].to"},
		{"being deleted", "leaving", dependency.Put{Kind: "slow"}, problem.DeletionInProgress, ""},
		{"another's asset", "theirs", dependency.Put{Kind: "bare"}, problem.NotFound, ""},
		{"another's owner", "new", dependency.Put{Kind: "item", Owner: "globex"}, problem.Forbidden, "owner"},
		{"place too long", strings.Repeat("%", 100), dependency.Put{Kind: "item"}, problem.LocationTooLong, ""},
		{"place without its attribute", "new", dependency.Put{Kind: "file"}, problem.InvalidAttribute, ""},
	}
	before := pretty(b.asset("mine"))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := b.PutAsset(b.as("acme"), c.id, c.put)
			if p := refused(t, err, c.want); c.field != "" && p.Field != c.field {
				t.Errorf("field %q, want %q", p.Field, c.field)
			}
		})
	}
	if after := pretty(b.asset("mine")); after != before {
		t.Errorf("the refusals changed a bystander:\n%s\n%s", before, after)
	}
	if _, err := b.Asset(b.ctx, "new"); problem.As(err) == nil {
		t.Errorf("a refused creation left an asset")
	}
}

func TestGenerationRisesAtReCreationAlsoWhenTheClockWentBack(t *testing.T) {
	b := newBench(t)
	last := ""
	for range 3 {
		a := b.create("bare", "phoenix")
		if a.Generation <= last {
			t.Fatalf("generation %s after %s", a.Generation, last)
		}
		last = a.Generation
		b.erased(b.del("phoenix"), "phoenix", a.Generation)
		b.advance(-time.Hour)
	}
}

func TestPlaceMadeOfAttributesBelongsToOneAsset(t *testing.T) {
	b := newBench(t)
	put := func(id, key string) (dependency.Asset, error) {
		a, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "file", Attributes: map[string]any{"key": key}})
		return a, err
	}
	a, err := put("a", "docs/a.pdf")
	if err != nil {
		t.Fatal(err)
	}
	_, err = put("b", "docs/a.pdf")
	refused(t, err, problem.PlaceTaken)
	_, err = put("a", "docs/other.pdf")
	refused(t, err, problem.AttributeFixed)
	b.erased(b.del("a"), "a", a.Generation)
	if _, err = put("b", "docs/a.pdf"); err != nil {
		t.Errorf("the place of a deleted asset is free again: %v", err)
	}
}

func TestQuotaRefusesGrowthOnly(t *testing.T) {
	b := newBench(t)
	put := func(id string, bytes int64) error {
		_, _, err := b.PutAsset(b.ctx, id, dependency.Put{Kind: "bare", Owner: "small", Bytes: &bytes})
		return err
	}
	for id, bytes := range map[string]int64{"s1": 60, "s2": 40} {
		if err := put(id, bytes); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, put("s3", 0), problem.QuotaExceeded)
	refused(t, put("s1", 61), problem.QuotaExceeded)
	if err := put("s1", 50); err != nil {
		t.Errorf("shrinking at the limit: %v", err)
	}
	if got, want := b.usage("small"), (dependency.Usage{Assets: 2, Bytes: 90}); got != want {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}

func TestLinksAreMadeAndRemovedWithoutDeletingAnything(t *testing.T) {
	b := newBench(t)
	b.create("bare", "a")
	b.create("bare", "b")
	b.create("slow", "leaving")
	b.del("leaving")
	for range 2 {
		if err := b.Link(b.ctx, "a", "NEEDS", "b"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Dependants(b.ctx, "b", "")
	if err != nil || len(got.Items) != 1 || got.Items[0].ID != "a" || got.Items[0].Type != "NEEDS" {
		t.Errorf("dependants: %s, %v", pretty(got), err)
	}
	refused(t, b.Link(b.ctx, "a", "NEEDS", "nobody"), problem.LinkTargetNotFound)
	refused(t, b.Link(b.ctx, "a", "NEEDS", "leaving"), problem.LinkTargetDeleting)
	refused(t, b.Link(b.ctx, "leaving", "NEEDS", "a"), problem.DeletionInProgress)
	refused(t, b.Link(b.as("globex"), "a", "NEEDS", "b"), problem.NotFound)
	refused(t, b.Link(b.ctx, "a", "LOVES", "b"), problem.UnknownLinkType)
	refused(t, b.Link(b.ctx, "a", "NEEDS", "a"), problem.SelfLink)
	for range 2 {
		if err := b.Unlink(b.ctx, "a", "NEEDS", "b"); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, b.Unlink(b.ctx, "a", "NEEDS", "nobody"), problem.LinkTargetNotFound)
	if got := b.asset("a"); len(got.Links) != 0 || got.Status != dependency.Live || b.asset("b").Status != dependency.Live {
		t.Errorf("after unlinking: %s", pretty(got))
	}
}

func TestImportNamesBadLinesAndLinksAfterAllLines(t *testing.T) {
	b := newBench(t)
	lines := []string{
		`{"id":"a","kind":"bare","links":[{"type":"NEEDS","to":"b"}]}`, // b comes later
		`{oops`,
		``,
		`{"id":"b","kind":"bare","links":[{"type":"NEEDS","to":"a"}]}`, // a cycle
		`{"id":"c","kind":"zebra"}`,
		`{"id":"d","kind":"bare","colour":"red"}`,
		`{"id":"e","kind":"bare","links":[{"type":"NEEDS","to":"nobody"}]}`,
		`{"id":"f","kind":"bare","attributes":{"x":"` + strings.Repeat("y", 1<<20) + `"}}`,
		`{"id":"a","kind":"bare"}`,
		`{"id":"g","kind":"bare"}`,
	}
	got, err := b.ImportAssets(b.ctx, strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if got.Created != 3 || got.Changed != 1 || got.Failed != 5 {
		t.Errorf("created %d, changed %d, failed %d; want 3, 1, 5: %s", got.Created, got.Changed, got.Failed, pretty(got.Errors))
	}
	want := map[int]string{2: "invalid-request", 5: "unknown-kind", 6: "invalid-request", 7: "link-target-not-found", 8: "payload-too-large"}
	for _, e := range got.Errors {
		if e.Type != "/problems/"+want[e.Line] {
			t.Errorf("line %d: %s (%s), want %s", e.Line, e.Type, e.Detail, want[e.Line])
		}
	}
	if l := b.asset("a").Links; len(l) != 1 || l[0].To != "b" {
		t.Errorf("links of a: %v; a later line without links leaves them", l)
	}
}

// The reader of a line must not make another id of one that it cannot hold.
func TestImportRefusesWhatReadersOfJSONReadInDifferentWays(t *testing.T) {
	b := newBench(t)
	for name, line := range map[string]string{
		"bytes that are not UTF-8": "{\"id\":\"odd-\xff\",\"kind\":\"bare\"}",
		"half a character":         `{"id":"odd-\ud800","kind":"bare"}`,
		"a member given twice":     `{"id":"odd-1","kind":"bare","id":"odd-2"}`,
		"nesting without end":      `{"id":"odd-3","kind":"bare","attributes":{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`,
		"a number for a name":      `{"id":"odd-4","kind":5}`,
		"a name in another case":   `{"ID":"odd-5","kind":"bare"}`,
		"two cases of one name":    `{"id":"odd-6","kind":"bare","Kind":"item"}`,
		"a link's name, too":       `{"id":"odd-7","kind":"bare","links":[{"Type":"NEEDS","to":"odd-8"}]}`,
		"a number beyond 2^53":     `{"id":"odd-9","kind":"bare","attributes":{"serial":[{"no":9007199254740993}]}}`,
	} {
		got, err := b.ImportAssets(b.ctx, strings.NewReader(line))
		if err != nil || got.Created != 0 || got.Failed != 1 || got.Errors[0].Type != "/problems/invalid-request" || strings.Contains(got.Errors[0].Detail, "Go ") {
			t.Errorf("%s: %s, %v", name, pretty(got), err)
		}
	}
	if page, err := b.Assets(b.ctx, dependency.AssetQuery{}); err != nil || len(page.Items) != 0 {
		t.Errorf("assets afterwards: %s, %v", pretty(page), err)
	}
}

func TestTheLastLineOfAnAssetCounts(t *testing.T) {
	b := newBench(t)
	b.create("bare", "b")
	lines := []string{
		`{"id":"a","kind":"bare","bytes":1,"attributes":{"v":"old"},"links":[{"type":"NEEDS","to":"b"}]}`,
		`{"id":"c","kind":"bare","links":[{"type":"NEEDS","to":"b"}]}`,
		`{"id":"a","kind":"bare","bytes":2,"attributes":{"v":"new"}}`,
		`{"id":"c","kind":"bare","links":[]}`,
	}
	if got, err := b.ImportAssets(b.ctx, strings.NewReader(strings.Join(lines, "\n"))); err != nil || got.Failed != 0 {
		t.Fatalf("%s, %v", pretty(got), err)
	}
	if a := b.asset("a"); a.Bytes != 2 || a.Attributes["v"] != "new" || len(a.Links) != 1 {
		t.Errorf("a: %s", pretty(a))
	}
	if c := b.asset("c"); len(c.Links) != 0 {
		t.Errorf("c was linked and unlinked in one transaction: %s", pretty(c))
	}
}

func TestListsPageOverEveryAssetOnce(t *testing.T) {
	b := newBench(t)
	for i := range 25 {
		b.create("bare", fmt.Sprintf("n%02d-\U0001F995", i))
	}
	seen := map[string]int{}
	for cursor := ""; ; {
		p, err := b.Assets(b.ctx, dependency.AssetQuery{Kind: "bare", Limit: 4, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Items {
			seen[a.ID]++
		}
		if cursor = p.NextCursor; cursor == "" {
			break
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%q was listed %d times", id, n)
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d of 25 were listed", len(seen))
	}
	_, err := b.Assets(b.ctx, dependency.AssetQuery{Cursor: "\x00"})
	refused(t, err, problem.InvalidRequest)
	_, err = b.Deletions(b.ctx, dependency.DeletionQuery{Status: "sleeping"})
	refused(t, err, problem.InvalidRequest)
}

func TestPlacesOfThePolicyAreGuarded(t *testing.T) {
	b := newBench(t)
	b.create("item", "x")
	moved := strings.Replace(policyText, `"payload/{id}/{generation}/"}`, `"elsewhere/{id}/{generation}/"}`, 1)
	if err := tryPolicy(t, b.graph, moved); err == nil || !strings.Contains(err.Error(), "item/payload") {
		t.Errorf("a moved place with live assets: %v; want a refusal naming item/payload", err)
	}
	kept := strings.Replace(policyText, `payload: {blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}`,
		`payload: {blobs: {bucket: assets, prefix: "elsewhere/{id}/{generation}/"}, former: [{blobs: {bucket: assets, prefix: "payload/{id}/{generation}/"}}]}`, 1)
	if kept == policyText {
		t.Fatal("the test's policy was not changed")
	}
	if err := tryPolicy(t, b.graph, kept); err != nil {
		t.Errorf("the old place under former: %v", err)
	}
}
