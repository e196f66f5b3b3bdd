// Package yamlfile decodes small YAML files so that every error is one line that names file, line and column.
package yamlfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Decode reads data into v; unknown and repeated fields are errors. name stands for the file in errors.
func Decode(name string, data []byte, v any) error {
	return locate(name, yaml.UnmarshalWithOptions(data, v, yaml.Strict()))
}

// DecodeNode reads one node into v, as Decode does.
func DecodeNode(name string, node ast.Node, v any) error {
	return locate(name, yaml.NodeToValue(node, v, yaml.Strict()))
}

// Fault is an error at a node: what is wrong there, and what to write instead.
func Fault(name string, node ast.Node, format string, args ...any) error {
	return fault(name, node.GetToken(), fmt.Sprintf(format, args...))
}

// locate makes an error of the YAML library one line with its place. Other errors stay as they are.
func locate(name string, err error) error {
	var located yaml.Error
	if !errors.As(err, &located) {
		return err
	}
	return fault(name, located.GetToken(), located.GetMessage())
}

func fault(name string, t *token.Token, message string) error {
	message, _, _ = strings.Cut(message, "\n")
	if t == nil || t.Position == nil {
		return fmt.Errorf("%s: %s", name, message)
	}
	return fmt.Errorf("%s:%d:%d: %s", name, t.Position.Line, t.Position.Column, message)
}
