package main

import (
	"fmt"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// pendingCmd lists unsent command flags.
type pendingCmd struct{ remote }

// Run prints page after page.
func (c *pendingCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	for cursor, first := "", true; first || cursor != ""; first = false {
		page, err := api.Pending(p.ctx, cursor)
		if err = c.finish(p, err, func() { printPending(p, page.Items, first) }); err != nil {
			return err
		}
		cursor = page.NextCursor
	}
	return nil
}

func printPending(p *program, flags []dependency.PendingFlag, first bool) {
	if first && len(flags) == 0 {
		_, _ = fmt.Fprintln(p.out, "nothing is pending")
		return
	}
	var rows [][]string
	if first {
		rows = append(rows, []string{"DELETION", "ASSET", "SINCE", "DUE", "STATE"})
	}
	for _, f := range flags {
		state := f.Cause
		if f.Claimed {
			state = "being sent"
		}
		rows = append(rows, []string{f.Deletion, f.Asset, moment(f.Since), moment(f.DueAt), state})
	}
	table(p.out, rows...)
}
