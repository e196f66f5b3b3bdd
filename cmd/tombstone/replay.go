package main

import "github.com/tombstone-project/tombstone/client"

// replayCmd publishes command flags now.
type replayCmd struct{ driveFlags }

// Help has examples.
func (*replayCmd) Help() string {
	return examples("tombstone replay 0198c0de-7f00-7000-8000-000000000001", "tombstone replay --all --older-than 1m")
}

// Run drives those that are pending.
func (c *replayCmd) Run(p *program) error {
	return c.drive(p, (*client.Client).Replay)
}
