package main

import "github.com/tombstone-project/tombstone/services/dependency"

// forceCmd gives a part up.
type forceCmd struct {
	remote
	Deletion string `arg:"" complete:"deleting" help:"Id of the deletion, which must be deleting."`
	Part     string `required:"" help:"Name of the part whose store is gone for good."`
	Reason   string `required:"" help:"Why; the audit trail and the receipt keep it."`
}

// Help has examples.
func (*forceCmd) Help() string {
	return examples(`tombstone force 0198c0de-7f00-7000-8000-000000000001 --part payload --reason "the customer deleted the bucket"`)
}

// Run asks for it.
func (c *forceCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	d, err := api.Force(p.ctx, c.Deletion, dependency.Force{Part: c.Part, Reason: c.Reason})
	return c.finish(p, err, func() { printDeletion(p, d) })
}
