package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

// whole is the policy of testdata that has every field.
func whole(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "whole.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheHashOfAnUnchangedPolicyStays(t *testing.T) {
	const want = "11f8a07b6de836321f16012d6a06cd83f684e4533d103bc2d6db38c2d33e932d"
	if got := mustParse(t, whole(t)).Hash; got != want {
		t.Errorf("the hash has become %s: after an upgrade retention would ask for a run by hand again", got)
	}
}

func TestAnotherWayToWriteAValueKeepsTheHash(t *testing.T) {
	text := whole(t)
	for from, to := range map[string]string{
		"stalled_after: 1.5h": "stalled_after: 90m", "bytes: 10GiB": "bytes: 10737418240", "recheck_after: 1d12h": "recheck_after: 36h",
		"{collection: bodies}": `{collection: bodies, key: "{id}", id: _id, id_type: string}`, "tries: [3]": "tries: ['3']", "  bare:": "  bare: {grace: 0s, parts: {}}",
		"max_share_per_owner: 0.25": "max_share_per_owner: 2.5e-1",
	} {
		if got, want := mustParse(t, strings.Replace(text, from, to, 1)).Hash, mustParse(t, text).Hash; got != want || !strings.Contains(text, from) {
			t.Errorf("%s for %s: want the same hash", to, from)
		}
	}
}

func TestEveryChangeChangesTheHash(t *testing.T) {
	text := whole(t)
	seen := map[string]string{mustParse(t, text).Hash: "nothing"}
	for from, to := range map[string]string{
		"label: Thing": "label: Stuff", "kind: sort": "kind: type", "owner: tenant": "owner: who", "id: uuid": "id: name",
		"DEPENDS_ON: {on_target_delete: restrict}": "DEPENDS_ON: {on_target_delete: cascade}", ", reversed: true": "", ", on_last_source: delete": "",
		"max_assets_per_deletion: 500": "max_assets_per_deletion: 501", "max_share_per_owner: 0.25": "max_share_per_owner: 0.26",
		"bytes: 10GiB": "bytes: 10GB", "assets: 10,": "assets: 11,", "default_ttl: 1m": "default_ttl: 2m", "max_ttl: 2h": "max_ttl: 3h", "margin: 30s": "margin: 31s",
		"keep: 365d": "keep: 0", "resend_after: 2s": "resend_after: 3s", "recheck_after: 1d12h": "recheck_after: 1d", "stalled_after: 1.5h": "stalled_after: 1h",
		"max_age: 30d": "max_age: 31d", "retention: {every: 0,": "retention: {every: 1h,", "first_run: apply": "first_run: dry", "every: 7d": "every: 8d", "min_age: 24h": "min_age: 25h",
		"every: 5m": "every: 6m", "bucket: canaries": "bucket: canary", "grace: 24h": "grace: 25h", "{id}/{generation}\"}": "{id}/{kind}/{generation}\"}",
		"collection: texts": "collection: text", "governance_bypass: true": "governance_bypass: false", "unfenced: true": "unfenced: false", "old/{kind}/": "old/mesh/",
		"id: number": "id: row", "id_type: int": "id_type: string", "after: 30d": "after: 29d", "clock: attributes.done_at": "clock: created_at", "[done, failed]": "[done]", "tries: [3]": "tries: [4]",
		"after: -1h": "after: 0", "  bare:": "  bear:", "          - document: {collection: bodies}\n": "",
	} {
		changed := strings.Replace(text, from, to, 1)
		hash := mustParse(t, changed).Hash
		if other, dup := seen[hash]; dup || changed == text {
			t.Errorf("%q for %q: the hash is that of %s", to, from, other)
		}
		seen[hash] = to
	}
}

func TestTheOrderOfPartsIsPartOfThePolicy(t *testing.T) {
	a := mustParse(t, "kinds: {k: {parts: {a: {document: {collection: a}}, b: {document: {collection: b}}}}}")
	b := mustParse(t, "kinds: {k: {parts: {b: {document: {collection: b}}, a: {document: {collection: a}}}}}")
	if a.Hash == b.Hash {
		t.Error("parts are erased in their order, so another order is another policy")
	}
}

// Whatever the layout, the quotes, the comments and the order of keys: it is one policy.
func TestLayoutAndCommentsDoNotCount(t *testing.T) {
	samples := []string{whole(t), adopted, files}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(samples).Draw(t, "policy")
		if rapid.Bool().Draw(t, "random") {
			text = anyDraft(t).text()
		}
		want, err := Parse("p", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var tree yaml.MapSlice
		if err := yaml.UnmarshalWithOptions([]byte(text), &tree, yaml.UseOrderedMap()); err != nil {
			t.Fatal(err)
		}
		again := layout{t}.block(tree, "", false)
		got, err := Parse("p", []byte(again))
		if err != nil || got.Hash != want.Hash {
			t.Fatalf("%s\nas:\n%s\n%v", text, again, err)
		}
	})
}

// layout writes a tree as YAML in ways that are drawn.
type layout struct{ t *rapid.T }

func (l layout) toss(what string) bool { return rapid.Bool().Draw(l.t, what) }

// block writes a mapping in lines of their own. Only where ordered is set does the order of the keys matter.
func (l layout) block(m yaml.MapSlice, indent string, ordered bool) string {
	out := ""
	for _, entry := range l.entries(m, ordered) {
		if l.toss("comment") {
			out += indent + "# a: {comment}\n"
		}
		out += indent + l.scalar(entry.Key) + ":"
		child, isMap := entry.Value.(yaml.MapSlice)
		if isMap && len(child) > 0 && l.toss("block") {
			deeper := indent + rapid.SampledFrom([]string{" ", "  ", "    "}).Draw(l.t, "indent")
			out += "\n" + l.block(child, deeper, entry.Key == "parts")
			continue
		}
		out += " " + l.flow(entry.Value, entry.Key == "parts")
		if l.toss("comment behind") {
			out += "   # and another"
		}
		out += "\n"
	}
	return out
}

// flow writes a value on one line.
func (l layout) flow(value any, ordered bool) string {
	var items []string
	switch v := value.(type) {
	case yaml.MapSlice:
		for _, entry := range l.entries(v, ordered) {
			items = append(items, l.scalar(entry.Key)+": "+l.flow(entry.Value, entry.Key == "parts"))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case []any:
		for _, item := range v {
			items = append(items, l.flow(item, false))
		}
		return "[" + strings.Join(items, rapid.SampledFrom([]string{", ", ",  "}).Draw(l.t, "comma")) + "]"
	default:
		return l.scalar(v)
	}
}

func (l layout) entries(m yaml.MapSlice, ordered bool) yaml.MapSlice {
	if ordered {
		return m
	}
	return rapid.Permutation(m).Draw(l.t, "order")
}

func (l layout) scalar(value any) string {
	text, ok := value.(string)
	switch {
	case value == nil:
		return "~"
	case !ok:
		return fmt.Sprint(value)
	case l.toss("quoted"):
		return strconv.Quote(text)
	case l.toss("single") || strings.ContainsAny(text, "{}|,: "):
		return "'" + text + "'"
	default:
		return text
	}
}
