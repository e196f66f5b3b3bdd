package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	// planPatience is the time that looking into the stores may take before a page is shown.
	planPatience = 2 * time.Minute
	// planShown is how many rows of each sort the page of a plan holds.
	planShown = 100
)

// confirmData is what is shown before a deletion: the plan, and the form that asks for the asset's id.
type confirmData struct {
	assetData
	WithDependants bool
	Plan           dependency.Plan // its lists are cut; Going and the others count all
	Going          int
	Documents      int
	Objects        int
	// Unknown says why there is no plan; a deletion is accepted all the same.
	Unknown string
}

func (s *Site) confirm(r *http.Request) (view, error) {
	a, err := s.oneAsset(r)
	if err != nil {
		return view{}, err
	}
	if !a.MayDelete {
		return view{}, problem.New(problem.DeletionInProgress, "asset %q is %s already", a.ID, a.Status)
	}
	data := confirmData{assetData: a, WithDependants: r.URL.Query().Get("with_dependants") == "true"}
	plan, err := s.cfg.Service.Plan(r.Context(), a.ID, dependency.PlanRequest{WithDependants: data.WithDependants})
	switch {
	case errors.Is(err, problem.Unavailable):
		data.Unknown = problem.As(err).Detail
	case err != nil:
		return view{}, err
	}
	data.take(plan)
	return view{name: "delete", title: "Delete " + a.ID, data: data}, nil
}

// take counts what the plan holds, draws it, and keeps the first rows.
func (c *confirmData) take(p dependency.Plan) {
	going := map[string]bool{}
	for _, a := range p.Assets {
		going[a.ID] = true
	}
	c.Picture = draw(c.Asset, c.Dependants, going)
	c.Going, c.Documents, c.Objects = len(p.Assets), len(p.Documents), len(p.Objects)
	p.Assets, p.Links = first(p.Assets), first(p.Links)
	p.Documents, p.Objects = first(p.Documents), first(p.Objects)
	c.Plan = p
}

func first[T any](rows []T) []T { return rows[:min(planShown, len(rows))] }

// delete asks for the deletion of what was shown, the generation and the plan, when the asset's id was typed.
func (s *Site) delete(r *http.Request) (string, error) {
	id := r.PostFormValue("id")
	if !typed(r.PostFormValue("confirm"), id) {
		return "", problem.New(problem.InvalidRequest, "nothing was deleted: to confirm, type the id of the asset, %q", id)
	}
	d, err := s.cfg.Service.Delete(r.Context(), id, dependency.DeleteRequest{
		WithDependants: r.PostFormValue("with_dependants") == "true", Reason: r.PostFormValue("reason"), IfMatch: r.PostFormValue("generation"),
		IfPlan: r.PostFormValue("plan"),
	})
	return deletionPage(d.ID), err
}
