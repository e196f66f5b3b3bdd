package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// planPatience is the time that looking into the stores may take before a page is shown.
const planPatience = 2 * time.Minute

// confirmData is what is shown before a deletion: the plan, and the form that asks for the asset's id.
type confirmData struct {
	assetData
	WithDependants bool
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
	asked := dependency.PlanRequest{WithDependants: data.WithDependants}
	err = s.foresee(r.Context(), &data.assetData, asked)
	if errors.Is(err, problem.Unavailable) { // a deletion is accepted all the same
		away := problem.As(err).Detail
		asked.GraphOnly = true
		err = s.foresee(r.Context(), &data.assetData, asked)
		data.Unknown = away
	}
	return view{name: "delete", title: "Delete " + a.ID, data: &data}, err
}

// delete asks for the deletion of what was shown, the generation and the plan, when the asset's id was typed.
func (s *Site) delete(r *http.Request) (string, error) {
	id := r.PostFormValue("id")
	if !typed(r.PostFormValue("confirm"), id) {
		return "", problem.New(problem.InvalidRequest, "nothing was deleted: to confirm, type the id of the asset, %q", id)
	}
	d, err := s.cfg.Service.Delete(r.Context(), id, dependency.DeleteRequest{
		WithDependants: r.PostFormValue("with_dependants") == "true", Reason: r.PostFormValue("reason"), IfMatch: r.PostFormValue("generation"),
		IfPlan: r.PostFormValue("plan"), TraceParent: r.Header.Get("Traceparent"),
	})
	return deletionPage(d.ID), err
}
