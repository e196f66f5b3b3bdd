package policy

import (
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxText is the largest policy that is read, in bytes.
const maxText = 1 << 20

// Load reads and checks a policy file. A file that cannot be read is Faults as well.
func Load(path string) (*Policy, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, Faults{{File: path, Message: fmt.Sprintf("cannot read the policy: %v", err)}}
	}
	return Parse(path, text)
}

// Parse reads and checks a whole policy. file is the name that faults carry. The error is Faults: all that were found,
// in the order of the text; but a text that is not YAML has one fault only.
func Parse(file string, text []byte) (*Policy, error) {
	tree, fault := parseYAML(file, text)
	if fault != nil {
		return nil, Faults{*fault}
	}
	r := &reader{file: file, policy: defaults()}
	if root := r.root(tree); root != nil {
		r.readPolicy(root)
		r.checkCollisions()
		r.checkCanary()
	}
	if len(r.faults) > 0 {
		return nil, r.faults.sorted()
	}
	r.policy.Hash = r.policy.digest()
	return r.policy, nil
}

// parseYAML gives the syntax tree. Keys that stand twice are left to the reader, which finds all of them.
func parseYAML(file string, text []byte) (*ast.File, *Fault) {
	refuse := func(message string, args ...any) *Fault {
		return &Fault{File: file, Line: 1, Column: 1, Message: fmt.Sprintf(message, args...)}
	}
	if len(text) > maxText {
		return nil, refuse("the policy has %d bytes; write at most %d", len(text), maxText)
	}
	if !utf8.Valid(text) {
		return nil, refuse("the policy is not UTF-8; save it as UTF-8")
	}
	tree, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, notYAML(refuse, err)
	}
	return tree, nil
}

// notYAML turns the error of the YAML parser into a fault.
func notYAML(refuse func(string, ...any) *Fault, err error) *Fault {
	f := refuse("this is not YAML: %v", err)
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		position := syntax.GetToken().Position
		f.Line, f.Column = position.Line, position.Column
		f.Message = "this is not YAML: " + syntax.GetMessage()
	}
	return f
}

// root finds the one document of the file; nil, with a fault, when there is none or more than one.
func (r *reader) root(tree *ast.File) ast.Node {
	var root ast.Node
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.DirectiveType:
		case root != nil:
			r.fault(doc.Body, "a second document; a policy is one, so remove the line ---")
			return nil
		default:
			root = doc.Body
		}
	}
	if root == nil {
		r.faults = append(r.faults, Fault{File: r.file, Line: 1, Column: 1, Message: "the policy is empty; " + noKinds})
	}
	return root
}
