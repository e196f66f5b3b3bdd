package main

import "fmt"

// pauseCmd stops physical deletion.
type pauseCmd struct{ remote }

// Help has examples.
func (*pauseCmd) Help() string { return examples("tombstone pause") }

// Run pauses.
func (c *pauseCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.finish(p, api.Pause(p.ctx), func() {
		_, _ = fmt.Fprintln(p.out, "paused: deletions are accepted, nothing is erased until tombstone resume")
	})
}
