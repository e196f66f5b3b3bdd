package main

import "fmt"

// resumeCmd goes on with physical deletion.
type resumeCmd struct{ remote }

// Help has examples.
func (*resumeCmd) Help() string { return examples("tombstone resume") }

// Run resumes.
func (c *resumeCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.finish(p, api.Resume(p.ctx), func() { _, _ = fmt.Fprintln(p.out, "resumed") })
}
