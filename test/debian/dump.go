// Package debian reads the dependency graph of the Debian archive, which every Debian machine has at hand: a large real
// graph with cycles, hubs and odd corners, to be held against an oracle.
package debian

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Graph is what depends on what, by package name.
type Graph struct {
	Names []string            // in the order of the dump, each once
	Needs map[string][]string // package → the packages of the dump that it names, each once, itself excluded
}

// Read takes the output of `apt-cache dumpavail`: stanzas with Package, Depends and Pre-Depends. All alternatives of a
// dependency count as needed; names that no stanza has (virtual packages) are left out.
func Read(r io.Reader) (*Graph, error) {
	g := &Graph{Needs: map[string][]string{}}
	fields := map[string][]string{} // as written, to be resolved once all names are known
	name := ""
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		key, value, ok := strings.Cut(in.Text(), ": ")
		switch {
		case ok && key == "Package":
			if name = value; fields[name] == nil {
				g.Names = append(g.Names, name)
				fields[name] = []string{}
			}
		case ok && (key == "Depends" || key == "Pre-Depends"):
			fields[name] = append(fields[name], targets(value)...)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read the package list: %w", err)
	}
	for _, n := range g.Names {
		seen := map[string]bool{n: true}
		for _, to := range fields[n] {
			if _, known := fields[to]; known && !seen[to] {
				seen[to] = true
				g.Needs[n] = append(g.Needs[n], to)
			}
		}
	}
	return g, nil
}

// First is the part of the graph between its first n packages.
func (g *Graph) First(n int) *Graph {
	part := &Graph{Names: g.Names[:min(n, len(g.Names))], Needs: map[string][]string{}}
	in := map[string]bool{}
	for _, name := range part.Names {
		in[name] = true
	}
	for _, name := range part.Names {
		for _, to := range g.Needs[name] {
			if in[to] {
				part.Needs[name] = append(part.Needs[name], to)
			}
		}
	}
	return part
}

// targets are the names in a dependency field: "a (>= 1), b | c:any" gives a, b, c.
func targets(field string) (names []string) {
	for _, word := range strings.FieldsFunc(field, func(r rune) bool { return r == ',' || r == '|' }) {
		word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
		word, _, _ = strings.Cut(word, ":")
		if word != "" {
			names = append(names, word)
		}
	}
	return names
}
