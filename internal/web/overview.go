package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// rowsShown is how many deletions each table of the overview holds; the lists have all.
const rowsShown = 20

// overviewData is what the overview shows.
type overviewData struct {
	dependency.Overview
	Attention, Waiting, Running, Latest []row
	Charts                              []chart
	OldestPending                       string
	Operator                            bool
}

// row is a deletion in a table.
type row struct {
	dependency.Deletion
	Left string // until it begins, while it is scheduled
	Next string // what happens next to one that needs attention
	Why  string // it needs attention
}

func (s *Site) overview(r *http.Request) (view, error) {
	ctx := r.Context()
	o, err := s.cfg.Service.Overview(ctx)
	if err != nil {
		return view{}, err
	}
	who, _ := dependency.CallerFrom(ctx)
	data := overviewData{Overview: o, Operator: who.Operator}
	if o.Flags != nil && o.Flags.Oldest != nil {
		data.OldestPending = span(s.cfg.Now().Sub(*o.Flags.Oldest))
	}
	if data.Attention, err = s.attention(ctx); err != nil {
		return view{}, err
	}
	for _, list := range []struct {
		into   *[]row
		status dependency.Status
	}{{&data.Waiting, dependency.Scheduled}, {&data.Running, dependency.Deleting}, {&data.Latest, ""}} {
		page, err := s.cfg.Service.Deletions(ctx, dependency.DeletionQuery{Status: list.status, Limit: rowsShown})
		if err != nil {
			return view{}, err
		}
		*list.into = s.rows(page.Items)
	}
	if len(o.Activity) > 0 {
		data.Charts = charts(o.Activity)
	}
	return view{name: "overview", title: "Deletions", data: data}, nil
}

// attention are the deletions that are blocked or stalled, the newest of each.
func (s *Site) attention(ctx context.Context) ([]row, error) {
	yes := true
	var found []dependency.Deletion
	for _, q := range []dependency.DeletionQuery{{Blocked: true, Limit: rowsShown}, {Stalled: &yes, Limit: rowsShown}} {
		page, err := s.cfg.Service.Deletions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, d := range page.Items {
			if !slices.ContainsFunc(found, func(o dependency.Deletion) bool { return o.ID == d.ID }) {
				found = append(found, d)
			}
		}
	}
	return s.rows(found), nil
}

func (s *Site) rows(deletions []dependency.Deletion) []row {
	now := s.cfg.Now()
	rows := make([]row, len(deletions))
	for i, d := range deletions {
		rows[i] = row{Deletion: d}
		switch d.Status {
		case dependency.Scheduled:
			rows[i].Left = left(d.DueAt, now)
		case dependency.Deleting:
			rows[i].Why, rows[i].Next = trouble(d, now)
		}
	}
	return rows
}

// trouble says why a deletion that is in progress does not get on, and what happens next.
func trouble(d dependency.Deletion, now time.Time) (why, next string) {
	why, tried := lastFailure(d)
	switch {
	case d.Blocked != nil:
		why = d.Blocked.Reason
		if d.Blocked.Part != "" {
			why = "part " + d.Blocked.Part + ": " + why
		}
		if d.Blocked.Until != nil {
			why += ", until " + moment(d.Blocked.Until)
		}
	case why == "" && d.Stalled:
		why = "nothing was heard of it for long"
	}
	switch {
	case why == "":
		return "", ""
	case tried != nil:
		return why, "is tried again by itself " + left(*tried, now)
	}
	return why, "is tried again by itself"
}

// lastFailure is the error of the first step that failed and is not done, and when that is tried next.
func lastFailure(d dependency.Deletion) (why string, next *time.Time) {
	for _, step := range d.Steps {
		if step.Status != dependency.StepErased && step.LastError != "" {
			return "part " + step.Part + ": " + step.LastError, step.NextTry
		}
	}
	return "", nil
}
