package config

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/tombstone-project/tombstone/internal/yamlfile"
)

// entries is a YAML mapping whose values are decoded by hand.
type entries struct{ nodes []*ast.MappingValueNode }

// UnmarshalYAML keeps the mapping's nodes.
func (e *entries) UnmarshalYAML(raw ast.Node) error {
	switch n := raw.(type) {
	case *ast.MappingNode:
		e.nodes = n.Values
	case *ast.MappingValueNode:
		e.nodes = []*ast.MappingValueNode{n}
	case *ast.NullNode:
	default:
		return fmt.Errorf("the file is not a mapping: write NAME: VALUE lines")
	}
	return nil
}

// readFile reads the settings of a YAML file by name; none when no file is named.
func readFile(name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	var all entries
	if err := yamlfile.Decode(name, text, &all); err != nil {
		return nil, err
	}
	known := knownNames()
	values := map[string]string{}
	for _, node := range all.nodes {
		key := node.Key.String()
		if !known[key] {
			return nil, yamlfile.Fault(name, node.Key, "there is no setting %s: write the name of one, like %s", key, cmp.Or(nearest(key, known), prefix+"LISTEN"))
		}
		value, err := scalar(name, node.Value)
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
}

// scalar is the text of a plain value, as it stands in the file.
func scalar(name string, node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case ast.ScalarNode:
		return strings.TrimSpace(n.GetToken().Value), nil
	}
	return "", yamlfile.Fault(name, node, "write a plain value here")
}

// knownNames are the names that a file may use.
func knownNames() map[string]bool {
	known := map[string]bool{}
	for _, s := range settings() {
		known[s.name] = true
		if s.secret {
			known[s.name+fileSuffix] = true
		}
	}
	return known
}
