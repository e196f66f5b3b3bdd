package main

import "fmt"

// pauseCmd stops physical deletion.
type pauseCmd struct {
	remote
	Reason string `placeholder:"TEXT" help:"Why; shown to operators as long as it lasts."`
}

// Help has examples.
func (*pauseCmd) Help() string {
	return examples(`tombstone pause --reason "a backup is being restored"`)
}

// Run pauses.
func (c *pauseCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return c.finish(p, api.Pause(p.ctx, c.Reason), func() {
		_, _ = fmt.Fprintln(p.out, "paused: deletions are accepted, nothing is erased until tombstone resume")
	})
}
