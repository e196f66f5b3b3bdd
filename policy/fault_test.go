package policy

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// refusal is a policy with one fault. In the text ‸ stands in front of where the fault is told.
type refusal struct{ name, text, message string }

// position takes the mark out of the text and gives its line and column.
func position(t *testing.T, marked string) (text string, line, column int) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatalf("no mark in %q", marked)
	}
	start := strings.LastIndexByte(before, '\n') + 1
	return before + after, strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

func checkRefusals(t *testing.T, cases []refusal) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, line, column := position(t, c.text)
			want := fmt.Sprintf("p.yaml:%d:%d: %s", line, column, c.message)
			_, err := Parse("p.yaml", []byte(text))
			if err == nil || err.Error() != want {
				t.Errorf("%s\nwant: %s\ngot:  %v", text, want, err)
			}
		})
	}
}

const item = "\nkinds: {item: {}}"

func TestRefusedAsYAML(t *testing.T) {
	checkRefusals(t, []refusal{
		{"empty", "‸", "the policy is empty; it names no kinds, so no asset could be created; write kinds: {NAME: {parts: {}}}"},
		{"comments only", "‸# nothing\n", "the policy is empty; it names no kinds, so no asset could be created; write kinds: {NAME: {parts: {}}}"},
		{"no kinds", "‸resend_after: 2s\n", "it names no kinds, so no asset could be created; write kinds: {NAME: {parts: {}}}"},
		{"kinds without one", "‸kinds: {}\n", "it names no kinds, so no asset could be created; write kinds: {NAME: {parts: {}}}"},
		{"not closed", "kinds: ‸[", "this is not YAML: sequence end token ']' not found"},
		{"a tab", "kinds:\n‸\titem: {}", "this is not YAML: found character '\t' that cannot start any token"},
		{"not UTF-8", "‸kinds: {\xff: {}}", "the policy is not UTF-8; save it as UTF-8"},
		{"a text", "‸plain words", "the policy is a text; write a mapping, NAME: VALUE"},
		{"a list", "‸- kinds", "the policy is a list; write a mapping, NAME: VALUE"},
		{"two documents", "kinds: {item: {}}\n---\n‸kinds: {item: {}}\n", "a second document; a policy is one, so remove the line ---"},
		{"an anchor", "limits: ‸&x {max_share_per_owner: 1}" + item, "limits is a YAML anchor, alias or merge, which a policy may not have; write a mapping, NAME: VALUE"},
		{"an alias", "kinds: {item: {grace: ‸*x}}", "grace is a YAML anchor, alias or merge, which a policy may not have; write a duration like 90s, 15m, 24h or 30d"},
		{"a merge", "kinds: {item: {‸<<: {grace: 1s}}}", "kind item has a YAML anchor, alias or merge, which a policy may not have as a key; write a name"},
		{"a tag", "kinds: {item: {grace: ‸!!str 5s}}", "grace is a YAML tag, which a policy may not have; write a duration like 90s, 15m, 24h or 30d"},
		{"an empty key", "kinds: {item: {}, ‸~: {}}", "kinds has empty as a key; write a name"},
	})
}

func TestRefusedFields(t *testing.T) {
	checkRefusals(t, []refusal{
		{"misspelt at the top", "‸resend_aftr: 2s" + item, `unknown field "resend_aftr" in the policy; write "resend_after"`},
		{"misspelt deeper", "kinds: {mesh: {parts: {a: {document: {collection: x}, ‸forme: []}}}}", `unknown field "forme" in part a; write "former"`},
		{"unknown", "grants: {‸lifetime: 5m}" + item, `unknown field "lifetime" in grants; known are default_ttl, max_ttl, margin`},
		{"twice at the top", "grants: {}\n‸grants: {}" + item, `"grants" is in the policy twice, first at line 1; write it once`},
		{"a kind twice", "kinds:\n  a: {}\n  b: {}\n  ‸a: {grace: 1s}\n", `"a" is in kinds twice, first at line 2; write it once`},
		{"a part twice", "kinds: {a: {parts: {x: {document: {collection: one}}, ‸x: {document: {collection: two}}}}}", `"x" is in parts twice, first at line 1; write it once`},
		{"a mapping for a value", "resend_after: ‸{id}" + item, "resend_after is a mapping; write a duration like 90s, 15m, 24h or 30d"},
		{"a value for a mapping", "grants: ‸15m" + item, "grants is a text; write a mapping, NAME: VALUE"},
		{"a mapping for a list", "kinds: {a: {parts: {x: {document: {collection: one}, former: ‸{document: {collection: two}}}}}}", "former is a mapping; write a list, [VALUE, VALUE]"},
	})
}

func TestRefusedDurations(t *testing.T) {
	grace := func(v string) string { return "kinds:\n  item:\n    grace: ‸" + v }
	checkRefusals(t, []refusal{
		{"a word", grace("soon"), `grace: "soon" is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d`},
		{"no unit", grace("30"), "grace: 30 has no unit; write 30s, 30m, 30h or 30d"},
		{"a fraction without unit", grace("1.5"), "grace: 1.5 has no unit; write 1.5s, 1.5m, 1.5h or 1.5d"},
		{"negative", grace("-1h"), "grace is -1h, which is negative; write 0s or more"},
		{"unknown unit", grace("3w"), `grace: "3w" is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d`},
		{"a space", grace("30 s"), `grace: "30 s" is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d`},
		{"too long", grace("200000d"), `grace: "200000d" is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d`},
		{"too long in all", grace("100000d100000d"), `grace: "100000d100000d" is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d`},
		{"nothing", "kinds: {item: {grace: ‸~}}", "grace is empty; write a duration like 90s, 15m, 24h or 30d"},
		{"never resend", "resend_after: ‸0" + item, "resend_after is 0, which is too short; write 1ms or more"},
		{"events gone at once", "events: {max_age: ‸1ms}" + item, "max_age is 1ms, which is too short; write 1s or more"},
		{"tombstones gone before the events", "tombstones: {keep: ‸89d}" + item, "keep is 2136h, shorter than events.max_age (2160h): what comes back until then must meet the tombstone; write that or more, or 0 for ever"},
		{"tombstones gone before the second look", "events: {max_age: 1h}\ntombstones: {keep: ‸23h}" + item, "keep is 23h, shorter than recheck_after (24h): what comes back until then must meet the tombstone; write that or more, or 0 for ever"},
		{"tombstones gone before the next command", "tombstones: {keep: ‸91d}\nresend_after: 92d" + item, "keep is 2184h, shorter than resend_after (2208h): what comes back until then must meet the tombstone; write that or more, or 0 for ever"},
		{"tombstones gone before the last upload", "tombstones: {keep: ‸2d}\nevents: {max_age: 1h}\ngrants: {max_ttl: 2d}" + item, "keep is 48h, shorter than grants.max_ttl and margin (48h5m): what comes back until then must meet the tombstone; write that or more, or 0 for ever"},
		{"a young sweep", "sweep: {every: 0, min_age: ‸1h}" + item, "min_age is 1h, which is too short; write 24h or more"},
		{"grants too short for the default", "grants: ‸{max_ttl: 10m}" + item, "default_ttl is 15m, more than max_ttl, 10m; write at most that"},
		{"grants too long for a URL", "grants: ‸{max_ttl: 8d}" + item, "max_ttl is 192h, and a presigned URL lasts 168h at most; write that or less"},
	})
}

func TestRefusedValues(t *testing.T) {
	checkRefusals(t, []refusal{
		{"size in a wrong unit", "quotas: {default: {bytes: ‸10Gib}}" + item, `bytes: "10Gib" is not a size, or too great a one; write a whole number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB`},
		{"negative size", "quotas: {default: {bytes: ‸-1}}" + item, `bytes: "-1" is not a size, or too great a one; write a whole number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB`},
		{"too great a size", "quotas: {default: {bytes: ‸9000PiB}}" + item, `bytes: "9000PiB" is not a size, or too great a one; write a whole number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB`},
		{"a list for a size", "quotas: {default: {bytes: ‸[1]}}" + item, "bytes is a list; write a size like 500MB or 10GiB"},
		{"a fraction of an asset", "quotas: {default: {assets: ‸1.5}}" + item, `assets is "1.5"; write a whole number of 0 or more`},
		{"a number in octal", "quotas: {default: {assets: ‸010}}" + item, `assets is "010"; write a whole number of 0 or more`},
		{"a number in quotes", "quotas: {default: {assets: ‸'10'}}" + item, `assets is "10"; write a whole number of 0 or more`},
		{"an owner that none can be", "quotas: {owners: {‸\"a\\tb\": {assets: 1}}}" + item, `"a\tb" is no owner: it holds the control character U+0009; send it without`},
		{"no asset a deletion", "limits: {max_assets_per_deletion: ‸0}" + item, `max_assets_per_deletion is "0"; write a whole number of 1 or more`},
		{"a share over one", "limits: {max_share_per_owner: ‸1.1}" + item, `max_share_per_owner is "1.1"; write a number from 0 to 1, like 0.25`},
		{"a share in percent", "limits: {max_share_per_owner: ‸30%}" + item, `max_share_per_owner is "30%"; write a number from 0 to 1, like 0.25`},
		{"a share that is no number", "limits: {max_share_per_owner: ‸.nan}" + item, "max_share_per_owner is a number; write a number from 0 to 1, like 0.25"},
		{"a first run of another sort", "retention: {first_run: ‸wet}" + item, `first_run is "wet"; write dry or apply`},
		{"a canary without bucket", "canary: ‸{every: 1m}" + item, "canary has no bucket; write bucket: NAME, or every: 0"},
		{"a canary among objects of assets", "canary: ‸{every: 1m, bucket: files}\n" + `kinds: {item: {parts: {file: {blobs: {bucket: files, prefix: "{owner}/{id}/{generation}/"}}}}}`,
			"in bucket files, part item/file could be at the same place as the canary, whose keys begin with NAMESPACE-canary/; use another bucket"},
		{"yes for true", `kinds: {a: {parts: {x: {blobs: {bucket: one, key: "{id}", unfenced: ‸yes}}}}}`, `unfenced is "yes"; write true or false`},
	})
}

func TestRefusedGraphAndLinks(t *testing.T) {
	checkRefusals(t, []refusal{
		{"a label with a space", "graph: {label: ‸my asset}" + item, `label "my asset" is not a name of letters, digits and _ that begins with no digit; write one`},
		{"a label of our own", "graph: {label: ‸Deletion}" + item, `label "Deletion" is a name of our own in the graph; write another`},
		{"a property of our own", "graph: {id: ‸status}" + item, `id "status" is a name of our own in the graph; write another`},
		{"one property twice", "graph: ‸{id: name, kind: name}" + item, `id, kind and owner are the properties "name", "name" and "owner"; write three different ones`},
		{"an empty label", "graph: {label: ‸''}" + item, "label is empty; write a text"},
		{"a label that is a number", "graph: {label: ‸7}" + item, "label is a number; write a text, in quotes if need be"},
		{"an unknown reaction", "links: {USES: {on_target_delete: ‸explode}}" + item, `on_target_delete is "explode"; write restrict or cascade or detach`},
		{"no reaction", "links: {‸USES: {on_last_source: delete}}" + item, "link USES does not say what deleting its target does; write on_target_delete: restrict, cascade or detach"},
		{"an unknown key of a link", "links: {USES: {on_target_delete: restrict, ‸on_source_delete: cascade}}" + item, `unknown field "on_source_delete" in link USES; write "on_target_delete"`},
		{"the last source does something else", "links: {USES: {on_target_delete: restrict, on_last_source: ‸keep}}" + item, `on_last_source is "keep"; write delete`},
		{"a type that is no name", "links: {‸DEPENDS-ON: {on_target_delete: restrict}}" + item, `link type "DEPENDS-ON" is not a name of letters, digits and _ that begins with no digit; write one`},
		{"a type of our own", "links: {‸PENDING: {on_target_delete: restrict}}" + item, `link type "PENDING" is a name of our own in the graph; write another`},
	})
}

func TestRefusedKindsAndParts(t *testing.T) {
	part := func(v string) string { return "kinds: {mesh: {parts: {a: " + v + "}}}" }
	checkRefusals(t, []refusal{
		{"a kind with a slash", "kinds: {‸a/b: {}}", `"a/b" cannot name a kind; write a name without / that is not . or ..`},
		{"a kind without a name", "kinds: {‸'': {}}", `"" cannot name a kind: it is empty; send 1 to 256 bytes`},
		{"a part named ..", "kinds: {mesh: {parts: {‸..: {document: {collection: x}}}}}", `".." cannot name a part; write a name without / that is not . or ..`},
		{"a part without place", "kinds: {mesh: {parts: {‸a: {}}}}", "part mesh/a has no place; write document: {…} or blobs: {…}"},
		{"a part with two", "kinds: {mesh: {parts: {‸a: {document: {collection: x}, blobs: {bucket: one, key: \"{id}\"}}}}}", "part mesh/a has both document and blobs; write one of them, and another part for the other"},
		{"a former place that is none", part("{document: {collection: x}, former: [‸{}]}"), "a former place of part mesh/a has no place; write document: {…} or blobs: {…}"},
		{"retention of a former place", part("{document: {collection: x}, former: [{document: {collection: y}, ‸retention: {after: 0}}]}"), `unknown field "retention" in former; known are document, blobs`},
		{"no collection", part("{document: ‸{key: \"{id}\"}}"), "document has no collection; write collection: NAME"},
		{"our own collection", part("{document: {collection: ‸tombstone_erasures}}"), `collection "tombstone_erasures" is not for assets: names that begin with system. or tombstone_ are taken; write another`},
		{"a collection with a dollar", part("{document: {collection: ‸a$b}}"), `collection "a$b" is longer than 200 bytes, or holds $ or a control character; write another`},
		{"a field within a field", part("{document: {collection: x, id: ‸a.b}}"), `id "a.b" holds $, a dot or a control character; write the name of a field at the top of the document`},
		{"the field of the generation", part("{document: {collection: x, id: ‸generation}}"), "id is the field generation, which holds the generation; write another"},
		{"an unknown type of id", part("{document: {collection: x, id_type: ‸uuid}}"), `id_type is "uuid"; write string or objectid or int`},
		{"a number of two variables", part(`{document: {collection: x, id_type: int, key: ‸"{id}{hash:2}"}}`), `key "{id}{hash:2}" cannot be made into id_type int; write one variable, like {id}`},
		{"no bucket", part(`{blobs: ‸{key: "{id}"}}`), "blobs has no bucket; write bucket: NAME"},
		{"a bucket with a slash", part(`{blobs: {bucket: ‸a/b/c, key: "{id}"}}`), `bucket "a/b/c" is not a name of 3 to 255 letters, digits, dots, hyphens and underscores; write one`},
		{"neither prefix nor key", part(`{blobs: ‸{bucket: one}}`), `blobs has neither prefix nor key; write prefix: "{id}/{generation}/", or the key of one object`},
		{"prefix and key", part(`{blobs: {bucket: one, prefix: "{id}/", key: ‸"{id}"}}`), "blobs has both prefix and key; write one of them, and another part for the other"},
		{"braces without quotes", part(`{blobs: {bucket: one, key: ‸{id}}}`), "key is a mapping; write a text, in quotes if it begins with {"},
		{"retention without a time", part("{document: {collection: x}, retention: ‸{clock: created_at}}"), "retention does not say after what time; write after: 30d, or after: 0 for never"},
		{"retention by another clock", part("{document: {collection: x}, retention: {after: 1d, clock: ‸deleted_at}}"), `clock is "deleted_at"; write created_at, updated_at or attributes.NAME`},
		{"retention when anything", part("{document: {collection: x}, retention: {after: 1d, when: {state: ‸[]}}}"), "when.state names no value, so nothing would ever expire; write [VALUE]"},
		{"retention when one value", part("{document: {collection: x}, retention: {after: 1d, when: {state: ‸done}}}"), "when.state is a text; write a list, [VALUE, VALUE]"},
		{"retention when nothing", part("{document: {collection: x}, retention: {after: 1d, when: {state: [done, ‸~]}}}"), "when.state holds empty; write values"},
	})
}

func TestRefusedTemplates(t *testing.T) {
	prefix := func(v string) string { return "kinds: {mesh: {parts: {a: {blobs: {bucket: one, prefix: " + v + "}}}}}" }
	key := func(v string) string { return "kinds: {mesh: {parts: {a: {blobs: {bucket: one, key: " + v + "}}}}}" }
	document := func(v string) string {
		return "kinds: {mesh: {parts: {a: {document: {collection: one, key: " + v + "}}}}}"
	}
	const notApart = ` does not keep {id} apart, so two assets could have the same place; write {id} before any |path, with no other variable but {hash:N} between the same two slashes`
	const noFence = ` does not keep {generation} apart, so it would be no fence; write {generation} before any |path, with no other variable but {hash:N} between the same two slashes`
	const odd = " has an empty segment, or one that is . or ..; write it without, and without a slash in front"
	checkRefusals(t, []refusal{
		{"unknown variable", prefix(`"x/{id}/‸{nobody}/"`), `prefix "x/{id}/{nobody}/": unknown variable {nobody}; known are {id}, {owner}, {kind}, {generation}, {hash:N}, {attributes.NAME}, {attributes.NAME|path}`},
		{"unknown variable after umlauts", prefix(`'ümläut/‸{nobody}/'`), `prefix "ümläut/{nobody}/": unknown variable {nobody}; known are {id}, {owner}, {kind}, {generation}, {hash:N}, {attributes.NAME}, {attributes.NAME|path}`},
		{"unknown variable without quotes", "kinds:\n  mesh:\n    parts:\n      a:\n        blobs:\n          bucket: one\n          prefix: x/‸{nobody}/", `prefix "x/{nobody}/": unknown variable {nobody}; known are {id}, {owner}, {kind}, {generation}, {hash:N}, {attributes.NAME}, {attributes.NAME|path}`},
		{"unknown variable after an escape", prefix(`‸"\u0041/{nobody}/"`), `prefix "A/{nobody}/": unknown variable {nobody}; known are {id}, {owner}, {kind}, {generation}, {hash:N}, {attributes.NAME}, {attributes.NAME|path}`},
		{"hash of no number", prefix(`"‸{hash:many}/{id}/"`), `prefix "{hash:many}/{id}/": {hash:many}: "many" is not a number of hex digits; write {hash:1} to {hash:64}`},
		{"hash of nothing", prefix(`"‸{hash:0}/{id}/"`), `prefix "{hash:0}/{id}/": {hash:0}: "0" is not a number of hex digits; write {hash:1} to {hash:64}`},
		{"hash of too much", prefix(`"‸{hash:65}/{id}/"`), `prefix "{hash:65}/{id}/": {hash:65}: "65" is not a number of hex digits; write {hash:1} to {hash:64}`},
		{"hash of 02", prefix(`"‸{hash:02}/{id}/"`), `prefix "{hash:02}/{id}/": {hash:02}: "02" is not a number of hex digits; write {hash:1} to {hash:64}`},
		{"attribute without a name", key(`"‸{attributes.}"`), `key "{attributes.}": {attributes.} is not an attribute; write {attributes.NAME} or {attributes.NAME|path}`},
		{"attribute with another option", key(`"‸{attributes.key|paths}"`), `key "{attributes.key|paths}": {attributes.key|paths} is not an attribute; write {attributes.NAME} or {attributes.NAME|path}`},
		{"not closed", key(`"x/‸{id"`), `key "x/{id": { without }; a variable is written {id}`},
		{"not opened", key(`"x/{id}‸}"`), `key "x/{id}}": } without {; a variable is written {id}`},
		{"prefix without the id", prefix(`‸"payload/{owner}/"`), `prefix "payload/{owner}/" does not contain {id}, so assets would share it; write {id}/ into it`},
		{"prefix without a slash", prefix(`‸"payload/{id}"`), `prefix "payload/{id}" does not end in /, so 1 would be the beginning of 10; write "payload/{id}/"`},
		{"prefix with two values in the segment of the id", prefix(`‸"{owner}-{id}/"`), `prefix "{owner}-{id}/"` + notApart},
		{"prefix with the id behind a path", prefix(`‸"{attributes.folder|path}/{id}/"`), `prefix "{attributes.folder|path}/{id}/"` + notApart},
		{"prefix with a slash in front", prefix(`‸"/{id}/"`), `prefix "/{id}/"` + odd},
		{"prefix with two slashes", prefix(`‸"a//{id}/"`), `prefix "a//{id}/"` + odd},
		{"prefix with dots", prefix(`‸"a/../{id}/"`), `prefix "a/../{id}/"` + odd},
		{"key with a dot", key(`‸"./{id}"`), `key "./{id}"` + odd},
		{"key that ends in a slash", key(`‸"a/{id}/"`), `key "a/{id}/" ends in /; write prefix for all objects below it, or the key of one object`},
		{"key of everybody", key(`‸"logo.png"`), `key "logo.png" does not contain {id}, so assets would share it; write {id} into it`},
		{"key of an owner", key(`‸"{owner}/logo.png"`), `key "{owner}/logo.png" does not contain {id}, so assets would share it; write {id} into it`},
		{"key with two values in the segment of the id", key(`‸"{id}{owner}"`), `key "{id}{owner}"` + notApart},
		{"key with two values in the segment of the generation", key(`‸"{id}/{attributes.layer}-{generation}"`), `key "{id}/{attributes.layer}-{generation}"` + noFence},
		{"prefix with the generation behind a path", prefix(`‸"{id}/{attributes.folder|path}/{generation}/"`), `prefix "{id}/{attributes.folder|path}/{generation}/"` + noFence},
		{"prefix without the id but with the generation", prefix(`‸"{generation}/"`), `prefix "{generation}/" does not contain {id}, so assets would share it; write {id}/ into it`},
		{"document with two values in the segment of the generation", document(`‸"{id}{generation}"`), `key "{id}{generation}"` + noFence},
		{"key with a control character", key(`‸"a\tb/{id}"`), `key "a\tb/{id}" holds a control character; write it without`},
		{"key longer than a key", key(`‸"` + strings.Repeat("x", 1021) + `{id}"`), "key has 1025 bytes, more than the key of an object can have; write at most 1024"},
		{"document of everybody", document(`‸"{kind}"`), `key "{kind}" does not contain {id}, so assets would share it; write {id} into it`},
		{"document with two values side by side", document(`‸"{owner}:{id}"`), `key "{owner}:{id}"` + notApart},
		{"an empty key", document(`‸""`), "key is empty; write a text"},
	})
}
