package web

import (
	"net/http"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// searchPatience is the time that a walk over the whole graph, and the stores, may take before a page is shown.
const searchPatience = time.Hour

// searchData is what was found by a dry run; its lists are cut.
type searchData struct {
	forms
	Ran bool
	dependency.Findings
	Groups []dependency.ExpiredGroup
	Left   dependency.Left
	Oldest *time.Time
	// More candidates and groups are not shown.
	More, MoreGroups int
}

// search answers a form with what it looked for, which may take long.
func (s *Site) search(look func(*http.Request) (view, error)) http.HandlerFunc {
	return s.within(searchPatience, s.fromOurForm(s.shown(look)))
}

// searchPage is the page of retention or sweep before anything was looked for.
func searchPage(name, title string) func(*http.Request) (view, error) {
	return func(*http.Request) (view, error) { return view{name: name, title: title, data: &searchData{}}, nil }
}

// retention shows what has expired, and changes nothing.
func (s *Site) retention(r *http.Request) (view, error) {
	found, err := s.cfg.Service.Retention(r.Context(), false)
	data := searchData{Ran: true, Findings: found.Findings, Groups: first(found.Groups), Left: found.Left, Oldest: found.Oldest}
	data.cut()
	data.MoreGroups = len(found.Groups) - len(data.Groups)
	return view{name: "retention", title: "What has expired", data: &data}, err
}

// sweep shows what belongs to nobody, and changes nothing.
func (s *Site) sweep(r *http.Request) (view, error) {
	found, err := s.cfg.Service.Sweep(r.Context(), false)
	data := searchData{Ran: true, Findings: found}
	data.cut()
	return view{name: "sweep", title: "Orphans", data: &data}, err
}

// cut keeps the first candidates.
func (d *searchData) cut() {
	d.Candidates = first(d.Candidates)
	d.More = d.Total - len(d.Candidates)
}
