package main

import (
	"fmt"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// retentionCmd finds what has expired, and lets it go.
type retentionCmd struct {
	remote
	Apply bool `help:"Let it go. The first time this confirms the policy, so that further runs come by themselves."`
}

// Help has examples.
func (*retentionCmd) Help() string {
	return examples("tombstone retention", "tombstone retention --apply", "tombstone retention --json")
}

// Run prints how much has expired, by kind, part and owner.
func (c *retentionCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	done := p.busy(doing("looking for what has expired"))
	found, err := api.Retention(p.ctx, c.Apply)
	done()
	return c.finish(p, err, func() { printExpired(p, found) })
}

func printExpired(p *program, found dependency.Expired) {
	if found.Total == 0 {
		_, _ = fmt.Fprintln(p.out, "nothing has expired")
	} else {
		rows := [][]string{{"KIND", "PART", "OWNER", "EXPIRED", "BYTES"}}
		for _, g := range found.Groups {
			rows = append(rows, []string{g.Kind, orDash(g.Part), g.Owner, strconv.Itoa(g.Total), bytesOf(g)})
		}
		table(p.out, rows...)
		_, _ = fmt.Fprintln(p.out, summary(found))
	}
	if left := found.Left; left != (dependency.Left{}) {
		_, _ = fmt.Fprintf(p.out, "left alone: %d on hold, %d that others need\n", left.Held, left.Dependants)
	}
	printExceeding(p, found.Findings)
}

// printExceeding tells what keeps --apply from going on.
func printExceeding(p *program, found dependency.Findings) {
	for _, o := range found.ExceedsShare {
		_, _ = fmt.Fprintf(p.out, "too much at once: %d of %d live assets of owner %s; --apply is refused; if that is right, raise limits.max_share_per_owner in the policy and start the service again\n", o.Candidates, o.Live, safe(orDash(o.Owner)))
	}
}

// bytesOf is the size of whole assets; that of single parts is not declared.
func bytesOf(g dependency.ExpiredGroup) string {
	if g.Part != "" {
		return "-"
	}
	return strconv.FormatInt(g.Bytes, 10)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func summary(found dependency.Expired) string {
	line := count(found.Total, "candidate")
	if found.Oldest != nil {
		line += ", the oldest since " + moment(*found.Oldest)
	}
	if found.Applied {
		return line + "; their deletion has begun"
	}
	if len(found.ExceedsShare) > 0 {
		return line + "; nothing was changed"
	}
	return line + "; nothing was changed, --apply lets them go"
}
