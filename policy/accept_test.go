package policy

import (
	"strings"
	"testing"
)

// adopted is a policy of the sort that operators write: several kinds in a few buckets, new layouts beside old ones.
const adopted = `graph: {label: Asset, id: id}
links:
  DEPENDS_ON: {on_target_delete: restrict}
  PART_OF: {on_target_delete: cascade}
resend_after: 2s
grants: {default_ttl: 5s, max_ttl: 1h, margin: 1s}
kinds:
  mesh:
    grace: 0s
    parts:
      description: {document: {collection: descriptions}}
      payload: {blobs: {bucket: assets, prefix: "payload/{owner}/{id}/{generation}/"}}
      thumbnail: {blobs: {bucket: assets, key: "thumbs/{id}.png"}}
  slow:
    grace: 1h
    parts:
      text: {document: {collection: texts}}
      payload: {blobs: {bucket: assets, prefix: "slow/{id}/{generation}/"}}
  check:
    parts:
      raw:
        blobs: {bucket: scans, prefix: "raw/{id}/{generation}/"}
        retention: {after: 3s, clock: created_at, when: {state: [done, failed]}}
      sbom: {blobs: {bucket: scans, key: "sbom/{id}.json"}}
      report: {document: {collection: reports}}
  file:
    parts:
      note: {document: {collection: filenotes}}
      content: {blobs: {bucket: files, key: "{attributes.key|path}"}}
      extra: {blobs: {bucket: assets, prefix: "extra/{hash:2}/{id}/{generation}/"}}
`

func TestAPolicyWithManyKindsInOneBucketIsAccepted(t *testing.T) {
	p := mustParse(t, adopted)
	got, err := p.Kinds["file"].Parts[2].Location(subject("1/2"))
	if err != nil || got.Prefix != "extra/d9/1%2F2/"+generation+"/" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A fault of each sort in a real policy is told at the line where it is. What could mean a whole bucket is one of them: H-36.
func TestAFaultInALongPolicyIsToldAtItsLine(t *testing.T) {
	for what, c := range map[string]struct {
		from, to string
		want     string
	}{
		"a misspelt field":      {"resend_after:", "resend_aftr:", "p:5:1: "},
		"a prefix without id":   {"slow/{id}/{generation}/", "slow/{owner}/", "p:18:49: "},
		"an empty prefix":       {`"slow/{id}/{generation}/"`, `""`, "p:18:"},
		"a prefix of another":   {"slow/{id}/{generation}/", "payload/{id}/", "p:18:49: "},
		"a key for two":         {"sbom/{id}.json", "raw/{id}/x/sbom.json", "p:24:42: "},
		"a reaction not known":  {"on_target_delete: cascade", "on_target_delete: explode", "p:4:31: "},
		"a bracket not closed":  {"kinds:\n", "kinds: [\n", "p:7:"},
		"a negative grace":      {"grace: 1h", "grace: -1h", "p:15:12: "},
		"a variable not known":  {"extra/{hash:2}", "extra/{hash}", "p:30:54: "},
		"a collection for two":  {"collection: texts", "collection: descriptions", "p:17:24: "},
		"an attribute anywhere": {"bucket: files", "bucket: scans", "p:29:45: "},
	} {
		_, err := Parse("p", []byte(strings.Replace(adopted, c.from, c.to, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: want one fault at %s, got %v", what, c.want, err)
		}
	}
}
