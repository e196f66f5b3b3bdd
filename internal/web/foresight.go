package web

import (
	"context"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// planShown is how many rows of each sort a page shows of a plan, and of what a search has found.
const planShown = 100

// foresight is what the deletion of an asset would take, as far as it is known.
type foresight struct {
	Plan dependency.Plan // its lists are cut; the numbers count all
	// Going counts assets.
	Going, Documents, Objects int
	// Unknown says why not all is known.
	Unknown string
}

// foresee plans the deletion of an asset and draws it.
func (s *Site) foresee(ctx context.Context, data *assetData, r dependency.PlanRequest) error {
	plan, err := s.cfg.Service.Plan(ctx, data.ID, r)
	if err == nil {
		data.take(plan)
	}
	return err
}

// take draws a plan, counts what it holds, and keeps the first rows.
func (d *assetData) take(p dependency.Plan) {
	d.Picture = draw(d.Asset, d.Dependants, fatesIn(p))
	d.Going, d.Documents, d.Objects = len(p.Assets), len(p.Documents), len(p.Objects)
	p.Assets, p.Links = first(p.Assets), first(p.Links)
	p.Documents, p.Objects = first(p.Documents), first(p.Objects)
	d.Plan = p
}

func first[T any](rows []T) []T { return rows[:min(planShown, len(rows))] }
