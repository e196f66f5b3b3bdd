package main

import (
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// pendingCmd lists unsent command flags.
type pendingCmd struct{ remote }

// Help has examples.
func (*pendingCmd) Help() string { return examples("tombstone pending", "tombstone pending --json") }

// Run prints page after page.
func (c *pendingCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return pages(p, &c.remote, func(cursor string) (dependency.Page[dependency.PendingFlag], error) {
		return api.Pending(p.ctx, cursor)
	}, func(flags []dependency.PendingFlag, first bool) { printPending(p, flags, first) })
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
		rows = append(rows, []string{f.Deletion, f.Asset, moment(f.Since), moment(f.DueAt), flagState(f, time.Now())})
	}
	table(p.out, rows...)
}

// flagState is why a flag is there still: its time has not come, it is in hand, or it waits, for what was flagged again with
// the cause of that.
func flagState(f dependency.PendingFlag, now time.Time) string {
	switch {
	case f.DueAt.After(now):
		return "not due"
	case f.Claimed:
		return "being sent"
	case f.Cause != "":
		return "waits: " + f.Cause
	}
	return "waits"
}
