package main

import (
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// verifyCmd holds the running system to its guarantees.
type verifyCmd struct {
	remote
	Apply bool   `help:"Erase again what lies where something was erased, where it can be nobody else's. Then verify again."`
	Since string `placeholder:"TIME" help:"Only look at what was erased since a time (RFC 3339), or so long ago (24h): after a store was restored from a backup."`
}

// Help has examples.
func (*verifyCmd) Help() string {
	return examples("tombstone verify", "tombstone verify --since 2026-03-01T12:00:00Z --apply", "tombstone verify --json")
}

// Run prints what is wrong, one violation a line; any violation is a failure.
func (c *verifyCmd) Run(p *program) error {
	r := dependency.VerifyRequest{Apply: c.Apply}
	if c.Since != "" {
		since, err := sinceTime(c.Since, time.Now())
		if err != nil {
			return err
		}
		r.Since = &since
	}
	api, err := c.dial()
	if err != nil {
		return err
	}
	done := p.busy(doing("verifying"))
	v, err := api.Verify(p.ctx, r)
	done()
	if err := c.finish(p, err, func() { printViolations(p, v) }); err != nil {
		return err
	}
	if v.Total > 0 {
		return fmt.Errorf("%s of the guarantees", count(v.Total, "violation"))
	}
	return nil
}

// sinceTime reads a time, or a duration before now.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, usageError("--since is a time like 2026-03-01T12:00:00Z, or a duration like 24h")
	}
	return at.UTC(), nil
}

func printViolations(p *program, v dependency.Verification) {
	if v.Total == 0 {
		_, _ = fmt.Fprintf(p.out, "no violations among %s\n", count(v.Checked, "asset"))
		return
	}
	rows := [][]string{{"GUARANTEE", "ASSET", "PART", "DELETION", "FOUND", "WHAT TO DO"}}
	for _, x := range v.Violations {
		asset := x.Asset
		if asset == "" {
			asset = "owner " + x.Owner
		}
		rows = append(rows, []string{x.Guarantee, asset, orDash(x.Part), orDash(x.Deletion), x.Found, x.Do})
	}
	table(p.out, rows...)
	if v.Driven > 0 {
		_, _ = fmt.Fprintf(p.out, "%s now looked at again\n", count(v.Driven, "erasure"))
	}
	if left := v.Total - len(v.Violations); left > 0 {
		_, _ = fmt.Fprintf(p.out, "and %d more\n", left)
	}
}
