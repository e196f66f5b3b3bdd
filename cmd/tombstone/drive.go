package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// driveFlags say which deletions to drive on.
type driveFlags struct {
	remote
	Deletions []string      `arg:"" optional:"" name:"deletion" help:"Ids of deletions."`
	All       bool          `help:"All of them."`
	OlderThan time.Duration `placeholder:"1m" help:"With --all: only those that wait for longer."`
}

// drive makes one of the calls that drive deletions on, and tells how many it drove.
func (c *driveFlags) drive(p *program, call func(*client.Client, context.Context, dependency.Drive) (dependency.Driven, error)) error {
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
	driven, err := call(api, p.ctx, dependency.Drive{Deletions: c.Deletions, All: c.All, OlderThan: c.OlderThan})
	return c.finish(p, err, func() { _, _ = fmt.Fprintln(p.out, count(driven.Driven, "deletion"), "driven") })
}
