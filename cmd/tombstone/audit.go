package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/internal/safetext"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// auditCmd lists the audit trail of an asset, or of all.
type auditCmd struct {
	remote
	ID     string    `arg:"" optional:"" help:"Id of the asset; it may be gone long since."`
	All    bool      `help:"The trails of all assets, in order of time."`
	Since  time.Time `placeholder:"2026-01-31T00:00:00Z" help:"With --all: only entries of this time and later."`
	NDJSON bool      `name:"ndjson" help:"Print a line of JSON for each entry, to be kept or read by other programs."`
}

// Help has examples.
func (*auditCmd) Help() string {
	return examples("tombstone audit meshes/oak-1", "tombstone audit meshes/oak-1 --json",
		"tombstone audit --all --since 2026-01-31T00:00:00Z --ndjson > audit.ndjson")
}

// Run prints page after page, oldest first.
func (c *auditCmd) Run(p *program) error {
	switch {
	case c.All == (c.ID != ""):
		return usageError("name an asset, or say --all")
	case !c.Since.IsZero() && !c.All:
		return usageError("--since goes with --all")
	case c.NDJSON && c.JSON:
		return usageError("say --json or --ndjson")
	}
	api, err := c.dial()
	if err != nil {
		return err
	}
	return pages(p, &c.remote, func(cursor string) (dependency.Page[dependency.AuditItem], error) {
		if c.All {
			return api.AuditAll(p.ctx, c.Since, cursor)
		}
		return api.Audit(p.ctx, c.ID, cursor)
	}, func(items []dependency.AuditItem, first bool) {
		if c.NDJSON {
			printLines(p, items)
		} else {
			c.print(p, items, first)
		}
	})
}

// printLines prints each item as a line of JSON.
func printLines[T any](p *program, items []T) {
	var text strings.Builder
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	for _, item := range items {
		_ = lines.Encode(item)
	}
	_, _ = fmt.Fprint(p.out, safetext.EscapeJSON(text.String()))
}

func (c *auditCmd) print(p *program, items []dependency.AuditItem, first bool) {
	if first && len(items) == 0 {
		_, _ = fmt.Fprintln(p.out, "nothing was recorded")
		return
	}
	var rows [][]string
	if first {
		rows = append(rows, c.row("ASSET", "TIME", "TYPE", "PART", "BY", "DELETION", "REASON", "DETAIL"))
	}
	for _, i := range items {
		kind := strings.TrimSuffix(strings.TrimPrefix(i.Type, "tombstone."), ".v1")
		rows = append(rows, c.row(i.Asset, moment(i.Time), kind, i.Part, i.By, i.Deletion, i.Reason, i.Detail))
	}
	table(p.out, rows...)
}

// row names the asset only where there are several.
func (c *auditCmd) row(asset string, rest ...string) []string {
	if c.All {
		return append([]string{asset}, rest...)
	}
	return rest
}
