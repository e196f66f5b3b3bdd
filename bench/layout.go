package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/policy"
)

// layouts are policies with one kind, `mesh`: %[1]s is the label of nodes, %[2]s the bucket, %[3]s the collection. That of
// objects alone belongs to -objects.
var layouts = map[string]string{
	"hashed": `graph: {label: %[1]s}
links: {PART_OF: {on_target_delete: cascade}}
kinds:
  mesh:
    parts:
      description: {document: {collection: %[3]s, key: "{id}/{generation}"}}
      payload:     {blobs: {bucket: %[2]s, prefix: "payload/{hash:2}/{owner}/{id}/{generation}/"}}
      thumbnail:   {blobs: {bucket: %[2]s, key: "thumbs/{id}.png"}}
`,
	"objects": `graph: {label: %[1]s}
kinds:
  mesh:
    parts:
      payload: {blobs: {bucket: %[2]s, prefix: "payload/{hash:2}/{owner}/{id}/{generation}/"}}
`,
	"flat": `graph: {label: %[1]s}
links: {PART_OF: {on_target_delete: cascade}}
kinds:
  mesh:
    parts:
      description: {document: {collection: %[3]s}}
      payload:     {blobs: {bucket: %[2]s, prefix: "payload/{owner}/{id}/{generation}/"}}
      thumbnail:   {blobs: {bucket: %[2]s, key: "thumbs/{id}.png"}}
`,
}

// owner is the one that an installation without authentication takes by default.
const owner = "default"

// scene is what one of the two ways works on: assets with names of their own in stores that both share.
type scene struct {
	policy     *policy.Policy
	text       string // of the policy
	namespace  string // of the subjects, the bucket, the collection and the label
	collection string
	perAsset   int // objects; 0: the few of one each that are named below
}

// namespacePrefix begins all namespaces of the benchmark.
const namespacePrefix = "bench-"

// newScene works out the names.
func newScene(layout, namespace string) (*scene, error) {
	s := &scene{namespace: namespace, collection: namespace + "-descriptions"}
	s.text = fmt.Sprintf(layouts[layout], strings.ReplaceAll(namespace, "-", "_"), s.bucket(), s.collection)
	var err error
	s.policy, err = policy.Parse("bench-policy.yaml", []byte(s.text))
	return s, err
}

func (s *scene) bucket() string { return s.namespace }

// ledger is where the asset service keeps its memory.
func (s *scene) ledger() string { return s.namespace + "_erasures" }

// names gives so many ids. No other scene has them, as all scenes of a graph on a server share what is kept of deletions.
func (s *scene) names(what string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%s-%06d", what, strings.TrimPrefix(s.namespace, namespacePrefix), i)
	}
	return out
}

// asset is one asset with the places of its parts.
type asset struct {
	id, generation string
	document       string   // its key; empty where the layout has none
	objects        []string // keys in the order of writing: one stands twice, and so has two versions
}

func (s *scene) asset(id, generation string) (asset, error) {
	a := asset{id: id, generation: generation}
	kind, _ := s.policy.Kind("mesh")
	for _, part := range kind.Parts {
		l, err := part.Location(policy.Subject{ID: id, Kind: kind.Name, Owner: owner, Generation: generation})
		switch {
		case err != nil:
			return a, err
		case l.IsDocument():
			a.document = l.DocumentKey
		case l.Key != "":
			a.objects = append(a.objects, l.Key)
		case s.perAsset > 0:
			for i := range s.perAsset {
				a.objects = append(a.objects, fmt.Sprintf("%s%06d", l.Prefix, i))
			}
		default:
			a.objects = append(a.objects, l.Prefix+"one.bin", l.Prefix+"one.bin", l.Prefix+"sub/two.bin")
		}
	}
	return a, nil
}

// assets are those of the floors, all in one generation.
func (s *scene) assets(ids []string) (all []asset, err error) {
	for _, id := range ids {
		a, err := s.asset(id, "0190a000-0000-7000-8000-000000000000")
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// keys are the assets' objects as a set.
func keys(assets []asset) map[string]bool {
	set := map[string]bool{}
	for _, a := range assets {
		for _, key := range a.objects {
			set[key] = true
		}
	}
	return set
}

func ids(assets []asset) []string {
	var out []string
	for _, a := range assets {
		out = append(out, a.id)
	}
	slices.Sort(out)
	return out
}
