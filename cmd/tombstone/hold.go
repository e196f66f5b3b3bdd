package main

import "fmt"

// holdCmd puts an asset under legal hold.
type holdCmd struct {
	remote
	ID     string `arg:"" help:"Id of the asset."`
	Reason string `placeholder:"TEXT" help:"Why; shown with the asset, and by refused deletions."`
}

// Help has examples.
func (*holdCmd) Help() string { return examples(`tombstone hold meshes/oak-1 --reason "case 4711"`) }

// Run holds it.
func (c *holdCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.finish(p, api.Hold(p.ctx, c.ID, c.Reason), func() { _, _ = fmt.Fprintln(p.out, safe(c.ID)+": on hold until it is released") })
}
