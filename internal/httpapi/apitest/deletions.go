package apitest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// ImportAssets puts one asset a line.
func (s *Service) ImportAssets(ctx context.Context, lines io.Reader) (dependency.ImportResult, error) {
	var result dependency.ImportResult
	c, leave, err := s.enter(ctx, "ImportAssets")
	if err != nil {
		return result, err
	}
	defer leave()
	scanner := bufio.NewScanner(lines)
	for number := 1; scanner.Scan(); number++ {
		var line struct {
			ID string `json:"id"`
			dependency.Put
		}
		err := json.Unmarshal(scanner.Bytes(), &line)
		outcome := dependency.Outcome("")
		if err == nil {
			_, outcome, err = s.put(c, line.ID, line.Put)
		}
		switch {
		case err != nil:
			result.Failed++
			result.Errors = append(result.Errors, dependency.ImportError{Line: number, ID: line.ID, Type: "/problems/invalid-request", Detail: err.Error()})
		case outcome == dependency.Created:
			result.Created++
		default:
			result.Changed++
		}
	}
	return result, scanner.Err()
}

// Delete accepts a deletion, which is deleted at once when the caller waits.
func (s *Service) Delete(ctx context.Context, id string, r dependency.DeleteRequest) (dependency.Deletion, error) {
	c, leave, err := s.enter(ctx, "Delete")
	if err != nil {
		return dependency.Deletion{}, err
	}
	defer leave()
	a, err := s.find(c, id)
	if err != nil {
		return dependency.Deletion{}, err
	}
	s.requests = append(s.requests, r)
	if r.IfMatch != "" && r.IfMatch != a.Generation {
		return dependency.Deletion{}, problem.New(problem.GenerationMismatch, "the asset has generation %s", a.Generation)
	}
	if a.Status != dependency.Live {
		return s.deletions[a.Deletion], nil
	}
	if a.Hold != nil {
		return dependency.Deletion{}, problem.New(problem.OnHold, "asset %q is on hold: %s", id, a.Hold.Reason)
	}
	if from := s.sources(id); len(from) > 0 && !r.WithDependants {
		return dependency.Deletion{}, problem.New(problem.HasDependants, "%d assets depend on it; delete first what depends on it, or %s", len(from), dependency.AskWithDependants).
			With("dependants", from).With("dependants_total", len(from))
	}
	now := time.Now().UTC()
	d := dependency.Deletion{
		ID: newID(), Root: id, Status: dependency.Deleting, RequestedBy: c.Subject, Reason: r.Reason,
		RequestedAt: now, DueAt: now.Add(s.Grace), Assets: dependency.AssetCount{Total: 1},
	}
	if s.Grace > 0 {
		d.Status = dependency.Scheduled
	}
	a.Status, a.Deletion = dependency.Deleting, d.ID
	s.assets[id], s.deletions[d.ID] = a, d
	s.tell(d, events.TypeDeletionRequested, c.Subject)
	if r.Wait > 0 {
		s.finish(d.ID)
	}
	return s.deletions[d.ID], nil
}

// Finish ends a deletion.
func (s *Service) Finish(deletion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish(deletion)
}

// FinishAll ends every deletion.
func (s *Service) FinishAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for deletion := range s.deletions {
		s.finish(deletion)
	}
}

func (s *Service) finish(deletion string) {
	now := time.Now().UTC()
	d := s.deletions[deletion]
	d.Status, d.CompletedAt, d.Assets.Deleted = dependency.Deleted, &now, 1
	a := s.assets[d.Root]
	if len(d.Parts) == 0 {
		a.Status = dependency.Deleted
	}
	for _, name := range d.Parts {
		a.Parts = map[string]dependency.PartView{name: {Status: dependency.PartErased, Generation: a.Parts[name].Generation, ErasedAt: &now}}
	}
	s.deletions[deletion], s.assets[d.Root] = d, a
	s.tell(d, events.TypeDeletionCompleted, d.RequestedBy)
}

// Deletion reads one.
func (s *Service) Deletion(ctx context.Context, deletion, _ string) (dependency.Deletion, error) {
	c, leave, err := s.enter(ctx, "Deletion")
	if err != nil {
		return dependency.Deletion{}, err
	}
	defer leave()
	return s.findDeletion(c, deletion)
}

// Deletions lists those that exist for the caller, newest first; the cursor is the last id.
func (s *Service) Deletions(ctx context.Context, q dependency.DeletionQuery) (dependency.Page[dependency.Deletion], error) {
	var page dependency.Page[dependency.Deletion]
	c, leave, err := s.enter(ctx, "Deletions")
	if err != nil {
		return page, err
	}
	defer leave()
	newestFirst := func(a, b dependency.Deletion) int { return strings.Compare(b.ID, a.ID) }
	for _, d := range slices.SortedFunc(maps.Values(s.deletions), newestFirst) {
		if q.Cursor != "" && d.ID >= q.Cursor {
			continue
		}
		if _, err := s.find(c, d.Root); err == nil && (q.Status == "" || d.Status == q.Status) && (q.Stalled == nil || d.Stalled == *q.Stalled) &&
			(!q.Blocked || d.Blocked != nil) {
			if len(page.Items) == cmp.Or(q.Limit, 100) {
				page.NextCursor = page.Items[len(page.Items)-1].ID
				break
			}
			page.Items = append(page.Items, d)
		}
	}
	return page, nil
}

// Pending has a flag for every deletion that runs.
func (s *Service) Pending(ctx context.Context, _ string) (dependency.Page[dependency.PendingFlag], error) {
	var page dependency.Page[dependency.PendingFlag]
	_, leave, err := s.enterOperator(ctx, "Pending")
	if err != nil {
		return page, err
	}
	defer leave()
	for _, d := range s.deletions {
		if d.Status == dependency.Deleting {
			page.Items = append(page.Items, dependency.PendingFlag{Deletion: d.ID, Asset: d.Root, Since: d.RequestedAt, DueAt: d.DueAt})
		}
	}
	return page, nil
}

// Replay counts what it would drive: nothing while paused.
func (s *Service) Replay(ctx context.Context, d dependency.Drive) (dependency.Driven, error) {
	return s.drive(ctx, "Replay", d)
}

func (s *Service) drive(ctx context.Context, call string, d dependency.Drive) (dependency.Driven, error) {
	_, leave, err := s.enterOperator(ctx, call)
	if err != nil {
		return dependency.Driven{}, err
	}
	defer leave()
	s.drives = append(s.drives, d)
	var driven dependency.Driven
	for id, deletion := range s.deletions {
		if s.paused == nil && deletion.Status == dependency.Deleting && (d.All || slices.Contains(d.Deletions, id)) {
			driven.Driven++
		}
	}
	return driven, nil
}

// PutDocument keeps a document.
func (s *Service) PutDocument(ctx context.Context, id, part string, body map[string]any, leaseToken string) error {
	c, leave, err := s.enter(ctx, "PutDocument")
	if err != nil {
		return err
	}
	defer leave()
	if _, err := s.document(c, id, part); err != nil {
		return err
	}
	s.documents[id] = body
	s.leases = append(s.leases, leaseToken)
	return nil
}

// GetDocument gives it back.
func (s *Service) GetDocument(ctx context.Context, id, part string) (map[string]any, error) {
	c, leave, err := s.enter(ctx, "GetDocument")
	if err != nil {
		return nil, err
	}
	defer leave()
	body, err := s.document(c, id, part)
	if err == nil && body == nil {
		err = problem.New(problem.NotFound, "there is no document")
	}
	return body, err
}

func (s *Service) document(c dependency.Caller, id, part string) (map[string]any, error) {
	a, err := s.find(c, id)
	switch {
	case err != nil:
		return nil, err
	case part != Part:
		return nil, problem.New(problem.UnknownPart, "kind %s has no document part %q", Kind, part).At("part")
	case a.Status != dependency.Live:
		return nil, problem.New(problem.Gone, "asset %q is %s", id, a.Status)
	}
	return s.documents[id], nil
}
