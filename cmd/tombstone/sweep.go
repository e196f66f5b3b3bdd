package main

import (
	"fmt"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// sweepCmd finds what belongs to nobody, and removes it.
type sweepCmd struct {
	remote
	Apply bool `help:"Remove the orphans."`
}

// Help has examples.
func (*sweepCmd) Help() string {
	return examples("tombstone sweep", "tombstone sweep --apply", "tombstone sweep --json")
}

// Run prints what was found.
func (c *sweepCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	done := p.busy(doing("looking for orphans"))
	found, err := api.Sweep(p.ctx, c.Apply)
	done()
	return c.finish(p, err, func() { printFindings(p, found) })
}

func printFindings(p *program, found dependency.Findings) {
	if found.Total == 0 {
		_, _ = fmt.Fprintln(p.out, "there is no orphan")
		return
	}
	rows := [][]string{{"ASSET", "PART", "PLACE", "BYTES", "WHY"}}
	for _, c := range found.Candidates {
		rows = append(rows, []string{c.Asset, c.Part, orDash(c.Place), strconv.FormatInt(c.Bytes, 10), c.Reason})
	}
	table(p.out, rows...)
	if shown := len(found.Candidates); shown < found.Total {
		_, _ = fmt.Fprintf(p.out, "and %d more\n", found.Total-shown)
	}
	line := fmt.Sprintf("%s, %d bytes", count(found.Total, "candidate"), found.Bytes)
	switch {
	case found.Applied:
		line += "; the deletion of orphans has begun"
	case len(found.ExceedsShare) > 0:
		line += "; nothing was changed"
	default:
		line += "; nothing was changed, --apply removes orphans"
	}
	_, _ = fmt.Fprintln(p.out, line)
	printExceeding(p, found)
}
