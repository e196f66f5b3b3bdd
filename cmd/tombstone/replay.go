package main

import (
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// replayCmd publishes command flags now.
type replayCmd struct {
	remote
	Deletions []string      `arg:"" optional:"" name:"deletion" help:"Ids of deletions."`
	All       bool          `help:"All that are pending."`
	OlderThan time.Duration `placeholder:"1m" help:"With --all: only those that wait for longer."`
}

// Run drives them.
func (c *replayCmd) Run(p *program) error {
	switch {
	case c.All == (len(c.Deletions) > 0):
		return usageError("name deletions, or say --all")
	case c.OlderThan != 0 && !c.All, c.OlderThan < 0:
		return usageError("--older-than goes with --all, and is not negative")
	}
	api, err := c.dial()
	if err != nil {
		return err
	}
	driven, err := api.Replay(p.ctx, dependency.Drive{Deletions: c.Deletions, All: c.All, OlderThan: c.OlderThan})
	return c.finish(p, err, func() { _, _ = fmt.Fprintln(p.out, count(driven.Driven, "deletion"), "driven") })
}
