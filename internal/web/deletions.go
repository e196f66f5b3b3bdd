package web

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// deletionsData is a page of the list of deletions.
type deletionsData struct {
	Heading string
	Rows    []row
	Next    string // address of the next page
}

// headings are those of the list, by its status.
var headings = map[string]string{
	"": "All deletions", "scheduled": "Scheduled deletions", "deleting": "Deletions in progress", "deleted": "Completed deletions",
	"cancelled": "Cancelled deletions",
}

func (s *Site) deletions(r *http.Request) (view, error) {
	asked := r.URL.Query()
	q := dependency.DeletionQuery{Status: dependency.Status(asked.Get("status")), Owner: asked.Get("owner"), Batch: asked.Get("batch"),
		Blocked: asked.Get("blocked") == "true", Cursor: asked.Get("cursor")}
	data := deletionsData{Heading: cmp.Or(headings[asked.Get("status")], "Deletions")}
	if q.Blocked {
		data.Heading = "Blocked deletions"
	}
	if asked.Get("stalled") == "true" {
		yes := true
		q.Stalled, data.Heading = &yes, "Stalled deletions"
	}
	page, err := s.cfg.Service.Deletions(r.Context(), q)
	if err != nil {
		return view{}, err
	}
	data.Rows, data.Next = s.rows(page.Items), following("/deletions", asked, page.NextCursor)
	return view{name: "deletions", title: data.Heading, data: data}, nil
}

// following is the address of the next page of a list; empty on the last.
func following(path string, asked url.Values, cursor string) string {
	if cursor == "" {
		return ""
	}
	asked.Set("cursor", cursor)
	return relative(path, asked)
}
