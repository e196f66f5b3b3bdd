package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tombstone-project/tombstone/policy"
)

// policyCmd holds the commands about policies.
type policyCmd struct {
	Check policyCheckCmd `cmd:"" help:"Check a policy file."`
}

// policyCheckCmd checks a policy without any store.
type policyCheckCmd struct {
	File string `arg:"" help:"The policy file."`
	JSON bool   `help:"Print the outcome as JSON."`
}

// Help has examples.
func (*policyCheckCmd) Help() string {
	return examples("tombstone policy check policy.yaml", "tombstone policy check policy.yaml --json")
}

// checked is the outcome as JSON.
type checked struct {
	Valid  bool           `json:"valid"`
	Hash   string         `json:"hash,omitempty"`
	Faults []policy.Fault `json:"faults,omitempty"`
}

// Run prints every fault with file, line and column.
func (c *policyCheckCmd) Run(p *program) error {
	loaded, err := policy.Load(c.File)
	var faults policy.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	outcome := checked{Valid: err == nil, Faults: faults}
	if outcome.Valid {
		outcome.Hash = loaded.Hash
	}
	if c.JSON {
		if err := json.NewEncoder(p.out).Encode(outcome); err != nil {
			return err
		}
	}
	switch {
	case len(faults) == 1:
		return faults[0]
	case len(faults) > 1:
		return c.several(p, faults)
	case !c.JSON:
		_, _ = fmt.Fprintf(p.out, "%s: good, hash %s\n", safe(c.File), outcome.Hash)
	}
	return nil
}

// several prints all faults on standard output; the error has the first.
func (c *policyCheckCmd) several(p *program, faults policy.Faults) error {
	if !c.JSON {
		for _, f := range faults {
			_, _ = fmt.Fprintln(p.out, safe(f.Error()))
		}
	}
	return fmt.Errorf("%w (and %d more)", faults[0], len(faults)-1)
}
