package main

import (
	"fmt"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// stalledCmd lists deletions that need a look.
type stalledCmd struct{ remote }

// Help has examples.
func (*stalledCmd) Help() string { return examples("tombstone stalled", "tombstone stalled --json") }

// Run prints page after page, newest first.
func (c *stalledCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return pages(p, &c.remote, func(cursor string) (dependency.Page[dependency.Deletion], error) {
		return api.Stalled(p.ctx, cursor)
	}, func(items []dependency.Deletion, first bool) { printStalled(p, items, first) })
}

func printStalled(p *program, deletions []dependency.Deletion, first bool) {
	if first && len(deletions) == 0 {
		_, _ = fmt.Fprintln(p.out, "nothing is stalled")
		return
	}
	var rows [][]string
	if first {
		rows = append(rows, []string{"DELETION", "ASSET", "DUE", "DELETED", "WHY"})
	}
	for _, d := range deletions {
		rows = append(rows, []string{d.ID, d.Root, moment(d.DueAt), fmt.Sprintf("%d of %d", d.Assets.Deleted, d.Assets.Total), whyStalled(d)})
	}
	table(p.out, rows...)
}

// whyStalled is the first thing that stands in the way; explain tells all.
func whyStalled(d dependency.Deletion) string {
	if b := d.Blocked; b != nil {
		return "blocked: " + b.Part + " of " + b.Asset + ": " + b.Reason
	}
	for _, step := range d.Steps {
		if step.Status != dependency.StepErased && step.LastError != "" {
			return "failing: " + step.LastError
		}
	}
	if d.SentAt == nil {
		return "past its deadline; its command was never sent"
	}
	return "past its deadline"
}
