package main

import "github.com/tombstone-project/tombstone/client"

// retryCmd drives stalled deletions now.
type retryCmd struct{ driveFlags }

// Help has examples.
func (*retryCmd) Help() string {
	return examples("tombstone retry 0198c0de-7f00-7000-8000-000000000001", "tombstone retry --all")
}

// Run drives them, without waiting for their next try.
func (c *retryCmd) Run(p *program) error {
	return c.drive(p, (*client.Client).Retry)
}
