package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// driveFlags say which deletions to drive on.
type driveFlags struct {
	remote
	Deletions []string      `arg:"" optional:"" name:"deletion" complete:"deleting" help:"Ids of deletions."`
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
	if err = c.finish(p, err, func() { _, _ = fmt.Fprintln(p.out, count(driven.Driven, "deletion"), "driven") }); err != nil {
		return err
	}
	switch named := distinct(c.Deletions); {
	case driven.Driven < len(named):
		return c.tellIdle(p, api, named, driven.Driven)
	case driven.Driven == 0 && !c.JSON:
		tellPaused(p, api)
	}
	return nil
}

// tellPaused tells that physical deletion is paused, if it is: then nothing can be driven.
func tellPaused(p *program, api *client.Client) {
	if o, err := api.Overview(p.ctx); err == nil && o.Pause != nil {
		_, _ = fmt.Fprintln(p.out, safe(pausedSays(*o.Pause)))
	}
}

// tellIdle tells which of the deletions there was nothing to drive of, and what those wait for that are deleting still, where
// not all of them were driven. Those that are not there are failures.
func (c *driveFlags) tellIdle(p *program, api *client.Client, ids []string, driven int) error {
	var missing error
	var waiting []dependency.Explanation
	for _, id := range ids {
		x, err := api.Explain(p.ctx, id)
		switch {
		case problem.As(err) != nil:
			p.complain("%s: %s", id, refusal(problem.As(err)))
			missing = errTold
		case err != nil:
			return fmt.Errorf("%s: %w", id, err)
		case x.Status == dependency.Deleting:
			waiting = append(waiting, x)
		case !c.JSON:
			_, _ = fmt.Fprintln(p.out, safe(id)+": nothing to drive, it is "+string(x.Status))
		}
	}
	if len(waiting) > driven && !c.JSON {
		for _, x := range waiting {
			_, _ = fmt.Fprintln(p.out, safe(x.Deletion+": is deleting, and waits for: "+x.WaitsFor))
		}
	}
	return missing
}

// distinct are the ids, each once.
func distinct(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}
