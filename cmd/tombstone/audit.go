package main

import (
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// auditCmd lists the audit trail of an asset.
type auditCmd struct {
	remote
	ID string `arg:"" help:"Id of the asset; it may be gone long since."`
}

// Help has examples.
func (*auditCmd) Help() string {
	return examples("tombstone audit meshes/oak-1", "tombstone audit meshes/oak-1 --json")
}

// Run prints page after page, oldest first.
func (c *auditCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	return pages(p, &c.remote, func(cursor string) (dependency.Page[dependency.AuditItem], error) {
		return api.Audit(p.ctx, c.ID, cursor)
	}, func(items []dependency.AuditItem, first bool) { printAudit(p, items, first) })
}

func printAudit(p *program, items []dependency.AuditItem, first bool) {
	if first && len(items) == 0 {
		_, _ = fmt.Fprintln(p.out, "nothing was recorded")
		return
	}
	var rows [][]string
	if first {
		rows = append(rows, []string{"TIME", "TYPE", "PART", "BY", "DELETION", "REASON", "DETAIL"})
	}
	for _, i := range items {
		kind := strings.TrimSuffix(strings.TrimPrefix(i.Type, "tombstone."), ".v1")
		rows = append(rows, []string{moment(i.Time), kind, i.Part, i.By, i.Deletion, i.Reason, i.Detail})
	}
	table(p.out, rows...)
}
