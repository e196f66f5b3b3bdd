package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/tombstone-project/tombstone/internal/yamlfile"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// roleOperator is the one role that a tokens file knows.
const roleOperator = "operator"

// tokenCaller is one entry of the tokens file.
type tokenCaller struct {
	sum    [sha256.Size]byte
	caller dependency.Caller
}

// node keeps a piece of YAML with its place, to be decoded by hand.
type node struct{ ast.Node }

// UnmarshalYAML keeps the node.
func (n *node) UnmarshalYAML(raw ast.Node) error {
	n.Node = raw
	return nil
}

// parseTokens reads a tokens file: `- {sha256: HEX, subject: NAME, owner: OWNER, roles: [operator]}`. Errors name the
// place; name stands for the file.
func parseTokens(name string, text []byte) ([]tokenCaller, error) {
	var entries []node
	if err := yamlfile.Decode(name, text, &entries); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s: there is no token in it: write - {sha256: HEX, subject: NAME, owner: OWNER, roles: [operator]}", name)
	}
	seen := map[[sha256.Size]byte]bool{}
	var callers []tokenCaller
	var faults []error
	for _, entry := range entries {
		c, err := parseToken(name, entry.Node)
		switch {
		case err != nil:
			faults = append(faults, err)
		case seen[c.sum]:
			faults = append(faults, yamlfile.Fault(name, entry.Node, "sha256: another entry has the same token"))
		default:
			seen[c.sum] = true
			callers = append(callers, c)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return callers, nil
}

// parseToken reads one entry.
func parseToken(name string, raw ast.Node) (tokenCaller, error) {
	var entry struct {
		SHA256  string   `yaml:"sha256"`
		Subject string   `yaml:"subject"`
		Owner   string   `yaml:"owner"`
		Roles   []string `yaml:"roles"`
	}
	if err := yamlfile.DecodeNode(name, raw, &entry); err != nil {
		return tokenCaller{}, err
	}
	c := tokenCaller{caller: dependency.Caller{Subject: entry.Subject, Owner: entry.Owner}}
	sum, err := hex.DecodeString(entry.SHA256)
	if err != nil || copy(c.sum[:], sum) != sha256.Size || len(sum) != sha256.Size {
		return c, yamlfile.Fault(name, raw, "sha256: write the 64 hex digits of the token's SHA-256")
	}
	if entry.Subject == "" {
		return c, yamlfile.Fault(name, raw, "subject: write who sends this token")
	}
	if err := policy.ValidateID(entry.Owner); err != nil {
		return c, yamlfile.Fault(name, raw, "owner: %s", detail(err))
	}
	for _, role := range entry.Roles {
		if role != roleOperator {
			return c, yamlfile.Fault(name, raw, "roles: %q is not a role; the one there is: %s", role, roleOperator)
		}
		c.caller.Operator = true
	}
	return c, nil
}

// detail is what a refusal says, without its name.
func detail(err error) string {
	if p := problem.As(err); p != nil {
		return p.Detail
	}
	return err.Error()
}
