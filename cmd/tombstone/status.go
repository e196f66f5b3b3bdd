package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// statusCmd shows one asset.
type statusCmd struct {
	remote
	ID string `arg:"" help:"Id of the asset."`
}

// Help has examples.
func (*statusCmd) Help() string {
	return examples("tombstone status meshes/oak-1", "tombstone status meshes/oak-1 --json", "tombstone status -- -an-id-like-a-flag")
}

// Run reads the asset.
func (c *statusCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	a, err := api.Asset(p.ctx, c.ID)
	return c.finish(p, err, func() { table(p.out, assetRows(a)...) })
}

// assetRows are the lines that show an asset.
func assetRows(a dependency.Asset) [][]string {
	rows := [][]string{
		{"asset", a.ID}, {"kind", a.Kind}, {"owner", a.Owner}, {"status", string(a.Status)}, {"generation", a.Generation},
		{"bytes", strconv.FormatInt(a.Bytes, 10)}, {"created", moment(a.CreatedAt)}, {"updated", moment(a.UpdatedAt)},
	}
	if a.Deletion != "" {
		rows = append(rows, []string{"deletion", a.Deletion})
	}
	if a.Hold != nil {
		rows = append(rows, []string{"hold", "by " + a.Hold.By + " since " + moment(a.Hold.At), a.Hold.Reason})
	}
	for _, l := range a.Links {
		rows = append(rows, []string{"link", l.Type, l.To})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Parts)) {
		part := a.Parts[name]
		row := []string{"part", name, part.Status}
		if part.ErasedAt != nil {
			row = append(row, moment(*part.ErasedAt))
		}
		rows = append(rows, append(row, part.Reason))
	}
	return rows
}
