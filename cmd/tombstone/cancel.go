package main

// cancelCmd takes a deletion back.
type cancelCmd struct {
	remote
	Deletion string `arg:"" complete:"scheduled" help:"Id of the deletion, which must be scheduled still."`
}

// Help has examples.
func (*cancelCmd) Help() string {
	return examples("tombstone cancel 0198c0de-7f00-7000-8000-000000000001")
}

// Run asks for it.
func (c *cancelCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	d, err := api.Cancel(p.ctx, c.Deletion)
	return c.finish(p, err, func() { printDeletion(p, d) })
}
