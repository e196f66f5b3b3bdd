package main

import "fmt"

// releaseCmd ends a legal hold.
type releaseCmd struct {
	remote
	ID string `arg:"" help:"Id of the asset."`
}

// Help has examples.
func (*releaseCmd) Help() string { return examples("tombstone release meshes/oak-1") }

// Run releases it.
func (c *releaseCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.finish(p, api.Release(p.ctx, c.ID), func() { _, _ = fmt.Fprintln(p.out, safe(c.ID)+": not on hold") })
}
