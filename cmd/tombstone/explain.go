package main

import (
	"fmt"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// explainCmd tells what a deletion waits for.
type explainCmd struct {
	remote
	Deletion string `arg:"" complete:"deleting,scheduled" help:"Id of the deletion; status tells that of an asset."`
}

// Help has examples.
func (*explainCmd) Help() string {
	return examples("tombstone explain 0198c0de-7f00-7000-8000-000000000001", "tombstone explain 0198c0de-7f00-7000-8000-000000000001 --json")
}

// Run asks for it.
func (c *explainCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	x, err := api.Explain(p.ctx, c.Deletion)
	return c.finish(p, err, func() { printExplanation(p, x) })
}

func printExplanation(p *program, x dependency.Explanation) {
	rows := [][]string{{"deletion", x.Deletion}, {"asset", x.Root}, {"status", string(x.Status)}, {"waits for", x.WaitsFor}}
	if x.Since != nil {
		rows = append(rows, []string{"since", moment(*x.Since)})
	}
	if x.LastError != "" {
		rows = append(rows, []string{"last error", x.LastError})
	}
	if x.NextTry != nil {
		rows = append(rows, []string{"next try", moment(*x.NextTry)})
	}
	if x.Paused {
		rows = append(rows, []string{"paused", "yes"})
	}
	if x.Stalled {
		rows = append(rows, []string{"stalled", "yes"})
	}
	for _, way := range x.MayDo {
		rows = append(rows, []string{"may do", way})
	}
	table(p.out, rows...)
	if len(x.Causes) == 0 {
		return
	}
	_, _ = fmt.Fprintln(p.out)
	steps := [][]string{{"ASSET", "PART", "STATUS", "ATTEMPTS", "NEXT TRY", "LAST ERROR"}}
	for _, cause := range x.Causes {
		next := ""
		if cause.NextTry != nil {
			next = moment(*cause.NextTry)
		}
		steps = append(steps, []string{cause.Asset, cause.Part, cause.Status, strconv.Itoa(cause.Attempts), next, cause.LastError})
	}
	table(p.out, steps...)
}
