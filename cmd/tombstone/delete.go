package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// deleteCmd asks for deletions.
type deleteCmd struct {
	remote
	IDs            []string      `arg:"" name:"id" help:"Ids of the assets."`
	Reason         string        `placeholder:"TEXT" help:"Why; kept in the audit trail."`
	WithDependants bool          `help:"Take along what depends on them."`
	IfPlan         string        `placeholder:"HASH" help:"Only if the plan is still this one (see --dry-run)."`
	Part           string        `placeholder:"NAME" help:"Delete only this part; the assets stay."`
	Wait           time.Duration `placeholder:"30s" help:"Wait so long until they are deleted."`
	DryRun         bool          `help:"Show what would be deleted, and change nothing."`
}

// Help has examples.
func (*deleteCmd) Help() string {
	return examples("tombstone delete meshes/oak-1 --dry-run", `tombstone delete meshes/oak-1 meshes/oak-2 --reason "no longer shown" --wait 30s`,
		"tombstone delete forest-floor --with-dependants", "tombstone delete scan-7 --part raw")
}

// Run asks for one asset, for a part of each, or for all assets together: what is accepted is one line on standard output,
// what is refused one on standard error. With --wait, a deletion that is not done in time counts as failed, though it goes on.
func (c *deleteCmd) Run(p *program) error {
	if c.IfPlan != "" && len(c.IDs) > 1 {
		return usageError("--if-plan goes with one id")
	}
	if c.Part != "" && (c.WithDependants || c.IfPlan != "" || c.DryRun) {
		return usageError("--part goes without --with-dependants, --if-plan and --dry-run")
	}
	if c.Wait < 0 {
		return usageError("--wait is negative")
	}
	api, err := c.dial()
	if err != nil {
		return err
	}
	switch {
	case c.DryRun:
		return c.dryRun(p, api)
	case len(c.IDs) > 1 && c.Part == "":
		return c.together(p, api)
	}
	var running []dependency.Deletion
	refused, err := c.each(p, func(id string) error {
		d, err := c.ask(p, api, id)
		if err == nil && c.Wait > 0 && unfinished(d) {
			running = append(running, d)
			return nil
		}
		return c.finish(p, err, func() { printDeletion(p, d) })
	})
	if late := c.await(p, api, running); err == nil && (late || refused) {
		err = errTold
	}
	return err
}

// together asks for all assets in one transaction, in which they do not stand in each other's way. With --json the answer is
// printed, or with --wait each deletion in its last state.
func (c *deleteCmd) together(p *program, api *client.Client) error {
	answer, err := api.DeleteSet(p.ctx, dependency.SetRequest{IDs: c.IDs, Reason: c.Reason, WithDependants: c.WithDependants})
	if err != nil {
		return c.finish(p, err, nil)
	}
	if c.JSON && c.Wait == 0 {
		c.printBody(p)
	}
	var running []dependency.Deletion
	refused := false
	for _, r := range answer.Results {
		switch {
		case r.Refusal != nil:
			p.complain("%s: %s", r.ID, refusal(r.Refusal))
			refused = true
		case c.Wait > 0:
			running = append(running, *r.Deletion)
		case !c.JSON:
			printDeletion(p, *r.Deletion)
		}
	}
	if late := c.await(p, api, running); late || refused {
		return errTold
	}
	return nil
}

// ask asks for one asset, or for its part.
func (c *deleteCmd) ask(p *program, api *client.Client, id string) (dependency.Deletion, error) {
	defer p.busy(doing("asking"))()
	if c.Part != "" {
		return api.DeletePart(p.ctx, id, c.Part, c.request())
	}
	return api.Delete(p.ctx, id, c.request())
}

// each calls f for every id. Refusals are told, and do not stop the rest; a failure does.
func (c *deleteCmd) each(p *program, f func(id string) error) (refused bool, err error) {
	for _, id := range c.IDs {
		err := f(id)
		if refusedFor := problem.As(err); refusedFor != nil {
			p.complain("%s: %s", id, refusal(refusedFor))
			refused = true
		} else if err != nil {
			return refused, fmt.Errorf("%s: %w", id, err)
		}
	}
	return refused, nil
}

// request is what is asked for each asset. The service waits itself for a single one; several are all asked for first.
func (c *deleteCmd) request() dependency.DeleteRequest {
	r := dependency.DeleteRequest{WithDependants: c.WithDependants, Reason: c.Reason, IfPlan: c.IfPlan}
	if len(c.IDs) == 1 {
		r.Wait = min(c.Wait, longestAsk)
	}
	return r
}

// longestAsk is the longest time that one request waits: proxies cut longer ones.
const longestAsk = 25 * time.Second

func unfinished(d dependency.Deletion) bool {
	return d.Status == dependency.Scheduled || d.Status == dependency.Deleting
}

// await looks at running deletions until they are done or the time is over; late tells that one is not done.
func (c *deleteCmd) await(p *program, api *client.Client, running []dependency.Deletion) (late bool) {
	ctx, cancel := context.WithTimeout(p.ctx, c.Wait)
	defer cancel()
	settled := atomic.Int64{}
	done := p.busy(func() string {
		return fmt.Sprintf("waiting, %d of %s done", settled.Load(), count(len(running), "deletion"))
	})
	for i, d := range running {
		running[i] = settle(ctx, api, d)
		settled.Add(1)
	}
	done()
	for _, d := range running {
		if unfinished(d) {
			p.complain("%s: deletion %s is still %s and goes on; tombstone explain %s tells what it waits for", d.Root, d.ID, d.Status, d.ID)
			late = true
		}
		_ = c.finish(p, nil, func() { printDeletion(p, d) })
	}
	return late
}

// settle polls one deletion until it is done or ctx ends, and gives the last state seen. A service that does not answer
// for a while is asked again.
func settle(ctx context.Context, api *client.Client, d dependency.Deletion) dependency.Deletion {
	for pause := 20 * time.Millisecond; ; pause = min(pause*2, time.Second) {
		if next, err := api.Deletion(ctx, d.ID, ""); err == nil {
			d = next
		}
		if !unfinished(d) {
			return d
		}
		select {
		case <-ctx.Done():
			return d
		case <-time.After(pause):
		}
	}
}

// printDeletion prints one deletion on one line.
func printDeletion(p *program, d dependency.Deletion) {
	line := d.Root + ": "
	if len(d.Parts) > 0 {
		line += "part " + strings.Join(d.Parts, ", ") + " "
	}
	line += fmt.Sprintf("%s, deletion %s", d.Status, d.ID)
	if d.Assets.Total > 1 {
		line += fmt.Sprintf(", %d of %d assets deleted", d.Assets.Deleted, d.Assets.Total)
	}
	if d.Status == dependency.Scheduled {
		line += ", due " + moment(d.DueAt)
	}
	_, _ = fmt.Fprintln(p.out, safe(line))
}

// dryRun shows what each deletion would take.
func (c *deleteCmd) dryRun(p *program, api *client.Client) error {
	refused, err := c.each(p, func(id string) error {
		done := p.busy(doing("looking into the stores"))
		plan, err := api.Plan(p.ctx, id, dependency.PlanRequest{WithDependants: c.WithDependants})
		done()
		return c.finish(p, err, func() { printPlan(p, id, plan) })
	})
	if err == nil && refused {
		err = errTold
	}
	return err
}

// printPlan prints everything that would go, one thing a line.
func printPlan(p *program, id string, plan dependency.Plan) {
	_, _ = fmt.Fprintf(p.out, "%s: would delete %s with %s and %s, %d bytes; plan %s\n", safe(id), count(len(plan.Assets), "asset"),
		count(len(plan.Documents), "document"), count(len(plan.Objects), "object version"), plan.Bytes, safe(plan.Hash))
	if plan.BlockersTotal > 0 {
		_, _ = fmt.Fprintf(p.out, "%s: would be refused: %s in the way\n", safe(id), count(plan.BlockersTotal, "asset"))
	}
	var rows [][]string
	for _, b := range plan.Blockers {
		rows = append(rows, []string{"  blocked by", b.Asset, b.Type})
	}
	for _, a := range plan.Assets {
		rows = append(rows, []string{"  asset", a.ID, a.Why})
	}
	for _, l := range plan.Links {
		rows = append(rows, []string{"  detached", l.From, l.Type + " " + l.To})
	}
	for _, id := range plan.Kept {
		rows = append(rows, []string{"  kept", id, "on hold"})
	}
	for _, d := range plan.Documents {
		rows = append(rows, []string{"  document", d.Collection + "/" + d.Key})
	}
	for _, o := range plan.Objects {
		rows = append(rows, []string{"  object", o.Bucket + "/" + o.Key, objectForm(o)})
	}
	table(p.out, rows...)
}

// objectForm tells what there is under a key.
func objectForm(o dependency.PlannedObject) string {
	switch {
	case o.Marker:
		return "delete marker " + o.Version
	case o.Upload:
		return "unfinished upload " + o.Version
	}
	return fmt.Sprintf("version %s, %d bytes", o.Version, o.Bytes)
}
