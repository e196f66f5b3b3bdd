package main

import (
	"fmt"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// verifyCmd holds the running system to its guarantees.
type verifyCmd struct{ remote }

// Help has examples.
func (*verifyCmd) Help() string { return examples("tombstone verify", "tombstone verify --json") }

// Run prints what is wrong, one violation a line; any violation is a failure.
func (c *verifyCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	v, err := api.Verify(p.ctx)
	if err := c.finish(p, err, func() { printViolations(p, v) }); err != nil {
		return err
	}
	if v.Total > 0 {
		return fmt.Errorf("%s of the guarantees", count(v.Total, "violation"))
	}
	return nil
}

func printViolations(p *program, v dependency.Verification) {
	if v.Total == 0 {
		_, _ = fmt.Fprintf(p.out, "no violations among %s\n", count(v.Checked, "asset"))
		return
	}
	rows := [][]string{{"GUARANTEE", "ASSET", "PART", "DELETION", "FOUND", "WHAT TO DO"}}
	for _, x := range v.Violations {
		asset := x.Asset
		if asset == "" {
			asset = "owner " + x.Owner
		}
		rows = append(rows, []string{x.Guarantee, asset, orDash(x.Part), orDash(x.Deletion), x.Found, x.Do})
	}
	table(p.out, rows...)
	if left := v.Total - len(v.Violations); left > 0 {
		_, _ = fmt.Fprintf(p.out, "and %d more\n", left)
	}
}
