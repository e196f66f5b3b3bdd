package policy

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mustParse parses a policy that must be fine.
func mustParse(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatalf("policy refused:\n%v\n%s", err, text)
	}
	return p
}

// template makes a template that must be fine.
func template(t testing.TB, text, kind string) *Template {
	t.Helper()
	out, err := parseTemplate(text, kind)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// same compares policies and parts by all that they hold.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Template{}, piece{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestParseReadsEveryField(t *testing.T) {
	got, err := Load(filepath.Join("testdata", "whole.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(text, kind string) *Template { return template(t, text, kind) }
	want := &Policy{
		Hash:  got.Hash,
		Graph: Graph{Label: "Thing", ID: "uuid", Kind: "sort", Owner: "tenant"},
		Links: map[string]Link{
			"DEPENDS_ON": {Type: "DEPENDS_ON", OnTargetDelete: Restrict},
			"PART_OF":    {Type: "PART_OF", OnTargetDelete: Cascade, Reversed: true},
			"REFERENCES": {Type: "REFERENCES", OnTargetDelete: Detach},
			"USES":       {Type: "USES", OnTargetDelete: Restrict, OnLastSourceDelete: true},
		},
		Limits: Limits{MaxAssetsPerDeletion: 500, MaxSharePerOwner: 0.25},
		Quotas: Quotas{
			Default: Quota{Assets: 10, Bytes: 1000},
			Owners:  map[string]Quota{"acme": {Assets: 10, Bytes: 10 << 30}, "7": {Assets: 0, Bytes: 5e8}},
		},
		Grants:       Grants{DefaultTTL: time.Minute, MaxTTL: 2 * time.Hour, Margin: 30 * time.Second},
		Tombstones:   Tombstones{Keep: 365 * day},
		ResendAfter:  2 * time.Second,
		RecheckAfter: 36 * time.Hour,
		StalledAfter: 90 * time.Minute,
		Events:       Events{MaxAge: 30 * day},
		Retention:    RetentionRun{Every: 0, FirstRun: "apply"},
		Sweep:        Sweep{Every: 7 * day, MinAge: day},
		Canary:       Canary{Every: 5 * time.Minute, Bucket: "canaries"},
		Kinds: map[string]*Kind{
			"mesh": {
				Name:  "mesh",
				Grace: day,
				Parts: []*Part{
					{Name: "text", Document: &Document{Collection: "texts", Key: at("{id}/{generation}", "mesh"), IDField: "_id", IDType: IDString}},
					{
						Name:  "payload",
						Blobs: &Blobs{Bucket: "assets", Prefix: at("payload/{hash:2}/{owner}/{id}/{generation}/", "mesh"), GovernanceBypass: true},
						Former: []*Part{
							{Name: "payload", Blobs: &Blobs{Bucket: "assets", Prefix: at("old/{kind}/{id}/", "mesh"), Unfenced: true}},
							{Name: "payload", Document: &Document{Collection: "bodies", Key: at("{id}", "mesh"), IDField: "_id", IDType: IDString}},
						},
					},
				},
			},
			"scan": {
				Name: "scan",
				Parts: []*Part{
					{Name: "row", Document: &Document{Collection: "rows", Key: at("{attributes.row}", "scan"), IDField: "number", IDType: IDInt}},
					{
						Name:      "raw",
						Blobs:     &Blobs{Bucket: "scans", Key: at("{attributes.key|path}", "scan")},
						Retention: &Retention{After: 30 * day, Clock: "attributes.done_at", When: map[string][]string{"state": {"done", "failed"}, "tries": {"3"}}},
					},
				},
				Retention: &Retention{After: -time.Hour, Clock: "updated_at"},
			},
			"bare": {Name: "bare"},
		},
	}
	same(t, "policy", want, got)
}

func TestParseFillsInDefaults(t *testing.T) {
	got := mustParse(t, "kinds: {item: {parts: {note: {document: {collection: notes}}, file: {blobs: {bucket: files, key: \"{id}\"}, retention: {after: 0}}}}}")
	id := template(t, "{id}", "item")
	want := &Policy{
		Hash:         got.Hash,
		Graph:        Graph{Label: "Asset", ID: "id", Kind: "kind", Owner: "owner"},
		Links:        map[string]Link{},
		Limits:       Limits{MaxAssetsPerDeletion: 10000, MaxSharePerOwner: 1},
		Quotas:       Quotas{Owners: map[string]Quota{}},
		Grants:       Grants{DefaultTTL: 15 * time.Minute, MaxTTL: time.Hour, Margin: 5 * time.Minute},
		ResendAfter:  15 * time.Minute,
		RecheckAfter: 24 * time.Hour,
		StalledAfter: time.Hour,
		Events:       Events{MaxAge: 90 * 24 * time.Hour},
		Retention:    RetentionRun{Every: 24 * time.Hour, FirstRun: "dry"},
		Sweep:        Sweep{MinAge: 72 * time.Hour},
		Kinds: map[string]*Kind{"item": {Name: "item", Parts: []*Part{
			{Name: "note", Document: &Document{Collection: "notes", Key: id, IDField: "_id", IDType: IDString}},
			{Name: "file", Blobs: &Blobs{Bucket: "files", Key: id}, Retention: &Retention{Clock: "created_at"}},
		}}},
	}
	same(t, "policy", want, got)
}

func TestAnOwnersQuotaTakesFromTheDefaultWhatItDoesNotName(t *testing.T) {
	p := mustParse(t, "quotas: {owners: {acme: {bytes: 1}, free: {assets: 0}}, default: {assets: 7, bytes: 9}}\nkinds: {item: {}}")
	for owner, want := range map[string]Quota{"acme": {7, 1}, "free": {0, 9}, "other": {7, 9}} {
		same(t, owner, want, p.Quotas.For(owner))
	}
}

func TestAKindNeedsNoParts(t *testing.T) {
	p := mustParse(t, "kinds:\n  bare:\n  empty: {}\n  none: {parts: {}}\n")
	if len(p.Kinds) != 3 {
		t.Errorf("want 3 kinds, got %v", p.Kinds)
	}
}

func TestLoadNamesAFileThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	_, err := Load(path)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].File != path || faults[0].Line != 0 {
		t.Errorf("want one fault that names %s without a line, got %v", path, err)
	}
}

func TestAPolicyThatIsTooLongIsNotRead(t *testing.T) {
	_, err := Parse("big.yaml", make([]byte, maxText+1))
	want := Faults{{File: "big.yaml", Line: 1, Column: 1, Message: "the policy has 1048577 bytes; write at most 1048576"}}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Error(diff)
	}
}

func TestAllFaultsAreToldInTheOrderOfTheText(t *testing.T) {
	text := "resend_aftr: 2s\nkinds:\n  mesh:\n    grace: soon\n    parts:\n      a: {blobs: {bucket: assets, prefix: \"x/\"}}\ngrants: {margin: -1s}\n"
	_, err := Parse("p.yaml", []byte(text))
	want := `p.yaml:1:1: unknown field "resend_aftr" in the policy; write "resend_after"
p.yaml:4:12: grace: "soon" is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d
p.yaml:6:43: prefix "x/" does not contain {id}, so assets would share it; write {id}/ into it
p.yaml:7:18: margin is -1s, which is negative; write 0s or more`
	if err == nil || err.Error() != want {
		t.Errorf("want:\n%s\ngot:\n%v", want, err)
	}
}
