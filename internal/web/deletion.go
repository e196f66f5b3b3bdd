package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// deletionData is what the page of one deletion shows.
type deletionData struct {
	forms
	dependency.Deletion
	Explained                            dependency.Explanation
	Line                                 []lineItem
	Left                                 string
	Next                                 string // address of the next steps
	MayCancel, MayDrive, Operator, Final bool
	Parts                                []string // those that are not erased, which an operator could give up
}

// lineItem is a point of the time line.
type lineItem struct {
	At   time.Time
	What string
	By   string
	Note string
}

// trailPages bounds how much of an asset's trail one page of a deletion reads.
const trailPages = 3

func (s *Site) deletion(r *http.Request) (view, error) {
	ctx, asked := r.Context(), r.URL.Query()
	id := asked.Get("id")
	d, err := s.cfg.Service.Deletion(ctx, id, asked.Get("cursor"))
	if err != nil {
		return view{}, err
	}
	who, _ := dependency.CallerFrom(ctx)
	data := deletionData{Deletion: d, Operator: who.Operator, Next: following("/deletion", asked, d.NextCursor),
		MayCancel: d.Status == dependency.Scheduled, MayDrive: who.Operator && d.Status == dependency.Deleting, Final: d.Status == dependency.Deleted}
	if data.Explained, err = s.cfg.Service.Explain(ctx, id); err != nil {
		return view{}, err
	}
	if data.Line, err = s.timeLine(ctx, d, who); err != nil {
		return view{}, err
	}
	if d.Status == dependency.Scheduled {
		data.Left = left(d.DueAt, s.cfg.Now())
	}
	for _, cause := range data.Explained.Causes {
		if !slices.Contains(data.Parts, cause.Part) {
			data.Parts = append(data.Parts, cause.Part)
		}
	}
	return view{name: "deletion", title: "Deletion of " + d.Root, about: d.ID, data: &data}, nil
}

// timeLine is the trail of the root as far as it tells of this deletion. Only operators may read trails; others get the times
// that the deletion itself has.
func (s *Site) timeLine(ctx context.Context, d dependency.Deletion, who dependency.Caller) ([]lineItem, error) {
	if !who.Operator {
		return ownLine(d), nil
	}
	var line []lineItem
	for cursor, pages := "", 0; pages < trailPages; pages++ {
		trail, err := s.cfg.Service.Audit(ctx, d.Root, cursor)
		if err != nil {
			return nil, err
		}
		for _, item := range trail.Items {
			if item.Deletion == d.ID {
				line = append(line, lineItemOf(item))
			}
		}
		if cursor = trail.NextCursor; cursor == "" {
			break
		}
	}
	if len(line) == 0 {
		return ownLine(d), nil
	}
	return line, nil
}

func lineItemOf(item dependency.AuditItem) lineItem {
	line := lineItem{At: item.Time, What: event(item.Type), Note: item.Detail}
	if item.Part != "" {
		line.What += ": " + item.Part
	}
	switch item.Type {
	case events.TypeDeletionRequested, events.TypeDeletionCancelled:
		line.By = item.By
	}
	return line
}

// ownLine tells what the deletion itself knows of times.
func ownLine(d dependency.Deletion) []lineItem {
	line := []lineItem{{At: d.RequestedAt, What: "deletion requested", By: d.RequestedBy}}
	add := func(at *time.Time, what, note string) {
		if at != nil {
			line = append(line, lineItem{At: *at, What: what, Note: note})
		}
	}
	add(d.SentAt, "command sent", "")
	for _, step := range d.Steps {
		if step.Asset == d.Root {
			add(step.ErasedAt, "part erased: "+step.Part, step.Forced)
		}
	}
	add(d.CompletedAt, "deletion completed", "")
	slices.SortStableFunc(line, func(a, b lineItem) int { return a.At.Compare(b.At) })
	return line
}

// deletionPage is the address of a deletion's page.
func deletionPage(id string) string { return relative("/deletion", url.Values{"id": {id}}) }

func (s *Site) cancel(r *http.Request) (string, error) {
	d, err := s.cfg.Service.Cancel(r.Context(), r.PostFormValue("id"))
	return deletionPage(d.ID), err
}

func (s *Site) retry(r *http.Request) (string, error) {
	id := r.PostFormValue("id")
	_, err := s.cfg.Service.Retry(r.Context(), dependency.Drive{Deletions: []string{id}})
	return deletionPage(id), err
}

// force gives a part up, when its name was typed too.
func (s *Site) force(r *http.Request) (string, error) {
	id, part := r.PostFormValue("id"), r.PostFormValue("part")
	if !typed(r.PostFormValue("confirm"), part) {
		return "", problem.New(problem.InvalidRequest, "nothing was given up: to confirm, type the name of the part, %q", part)
	}
	_, err := s.cfg.Service.Force(r.Context(), id, dependency.Force{Part: part, Reason: r.PostFormValue("reason")})
	return deletionPage(id), err
}

// receipt hands out a deletion's receipt as a file: what signs it is under /.well-known/jwks.json.
func (s *Site) receipt(w http.ResponseWriter, r *http.Request) {
	s.known(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("id")
		text, err := s.cfg.Service.Receipt(r.Context(), id)
		if err != nil {
			s.refuse(w, r, err, "")
			return
		}
		s.headers(w, "application/jose")
		w.Header().Set("Content-Disposition", `attachment; filename="receipt.jws"`)
		_, _ = w.Write([]byte(text))
	})(w, r)
}
