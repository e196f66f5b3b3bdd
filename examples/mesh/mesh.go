// Package mesh is the mesh library of the demo: its policy, and the library itself, made from a seed.
package mesh

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
)

// Policy is the policy of the library; `tombstone dev` uses it when no other is given.
//
//go:embed policy.yaml
var Policy []byte

// Asset is one asset of the library with everything that lies outside the graph.
type Asset struct {
	ID         string
	Kind       string
	Needs      []string // ids it depends on, all earlier in the library
	Attributes map[string]any
	// Document is the description.
	Document map[string]any
	// Objects of the payload, in order; a name that comes twice makes an older version.
	Objects []Object
	Preview []byte
}

// Object is one object of a payload.
type Object struct {
	Name string
	Data []byte
}

// Bytes is the size of all objects.
func (a Asset) Bytes() (n int64) {
	for _, o := range a.Objects {
		n += int64(len(o.Data))
	}
	return n + int64(len(a.Preview))
}

// Library makes the library. The same seed gives the same bytes.
func Library(seed uint64) []Asset {
	m := maker{rand.New(rand.NewPCG(seed, 0))}
	textures := []string{"oak-bark", "moss", "slate", "river-sand"}
	materials := map[string]string{"wet-stone": "slate", "bark": "oak-bark", "forest-floor": "moss"}
	meshes := []struct {
		id    string
		needs []string
	}{
		{"oak", []string{"bark", "oak-bark"}}, {"stump", []string{"bark"}}, {"boulder", []string{"wet-stone", "moss"}},
		{"fern", []string{"forest-floor"}}, {"footbridge", []string{"bark", "slate"}}, {"shore", []string{"river-sand"}},
	}
	scenes := map[string][]string{"clearing": {"oak", "fern", "boulder"}, "ford": {"footbridge", "shore", "boulder"}}
	var all []Asset
	for _, t := range textures {
		all = append(all, m.texture(t))
	}
	for _, id := range []string{"wet-stone", "bark", "forest-floor"} {
		all = append(all, m.material(id, materials[id]))
	}
	for _, x := range meshes {
		all = append(all, m.mesh(x.id, x.needs))
	}
	for _, id := range []string{"clearing", "ford"} {
		all = append(all, m.scene(id, scenes[id]))
	}
	return all
}

type maker struct{ rnd *rand.Rand }

// noise is content of some size; what it holds does not matter to anybody.
func (m maker) noise(low, high int) []byte {
	b := make([]byte, low+m.rnd.IntN(high-low))
	for i := range b {
		b[i] = byte(m.rnd.UintN(256))
	}
	return b
}

func (m maker) texture(id string) Asset {
	a := Asset{ID: id, Kind: "texture", Document: map[string]any{"title": "Texture " + id, "colour_space": "sRGB"}}
	for _, size := range []int{256, 512, 1024} {
		a.Objects = append(a.Objects, Object{fmt.Sprintf("%d.ktx2", size), m.noise(size, 4*size)})
	}
	return m.revised(a)
}

func (m maker) material(id, texture string) Asset {
	return Asset{ID: id, Kind: "material", Needs: []string{texture},
		Document: map[string]any{"title": "Material " + id, "base_texture": texture, "roughness": m.rnd.Float64()}}
}

func (m maker) mesh(id string, needs []string) Asset {
	a := Asset{ID: id, Kind: "mesh", Needs: needs, Preview: m.noise(500, 900), Document: map[string]any{"title": "Mesh " + id, "triangles": 1000 + m.rnd.IntN(90000)}}
	for _, level := range []string{"lod0", "lod1", "lod2"} {
		a.Objects = append(a.Objects, Object{"geometry/" + level + ".bin", m.noise(2000, 8000)})
	}
	return m.revised(a)
}

func (m maker) scene(id string, needs []string) Asset {
	return Asset{ID: id, Kind: "scene", Needs: needs, Preview: m.noise(900, 1500), Document: map[string]any{"title": "Scene " + id, "meshes": len(needs)},
		Objects: []Object{{"scene.json", m.noise(800, 2000)}, {"lightmap.bin", m.noise(4000, 9000)}}}
}

// revised gives the first object of the payload an older version.
func (m maker) revised(a Asset) Asset {
	a.Objects = append([]Object{{a.Objects[0].Name, m.noise(300, 900)}}, a.Objects...)
	return a
}
