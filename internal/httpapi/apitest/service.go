// Package apitest is both services in memory, for tests of what stands before them: the HTTP API, its client and the
// command line. It knows owners, restrict links and deletions that end when they are waited for or told to.
package apitest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Kind is the one kind there is, Part its document part, and LinkType its one type of link.
const (
	Kind     = "mesh"
	Part     = "description"
	LinkType = "DEPENDS_ON"
)

// Service implements httpapi.DependencyAPI and AssetAPI. It is safe for concurrent use.
type Service struct {
	// Before runs ahead of every call, with its name; its error is the call's.
	Before func(ctx context.Context, call string) error
	// Grace makes deletions scheduled for so long; they begin never.
	Grace time.Duration

	mu        sync.Mutex
	assets    map[string]dependency.Asset
	deletions map[string]dependency.Deletion
	documents map[string]map[string]any
	batches   map[string]dependency.Batch
	requests  []dependency.DeleteRequest
	sets      []dependency.SetRequest
	drives    []dependency.Drive
	leases    []string
	trail     []dependency.AuditItem
	told      chan struct{} // closed when the trail grows
	paused    *dependency.Pause
	expired   dependency.Expired
	orphans   dependency.Findings
	// violations are what Verify finds
	violations []dependency.Violation
	verified   []dependency.VerifyRequest
	stores     events.StoresView
}

// New makes an empty service.
func New() *Service {
	return &Service{
		assets: map[string]dependency.Asset{}, deletions: map[string]dependency.Deletion{}, batches: map[string]dependency.Batch{}, documents: map[string]map[string]any{},
		told: make(chan struct{}),
	}
}

// Requests are the deletions that were asked for, in order.
func (s *Service) Requests() []dependency.DeleteRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Drives are the replays and retries that were asked for, in order.
func (s *Service) Drives() []dependency.Drive {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.drives)
}

// Leases are the lease tokens that came with documents, in order.
func (s *Service) Leases() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.leases)
}

// enter begins a call: it locks, and finds the caller.
func (s *Service) enter(ctx context.Context, call string) (dependency.Caller, func(), error) {
	if s.Before != nil {
		if err := s.Before(ctx, call); err != nil {
			return dependency.Caller{}, nil, err
		}
	}
	c, ok := dependency.CallerFrom(ctx)
	if !ok {
		return c, nil, problem.New(problem.Unauthenticated, "nobody calls")
	}
	s.mu.Lock()
	return c, s.mu.Unlock, nil
}

// find gives an asset that exists for the caller.
func (s *Service) find(c dependency.Caller, id string) (dependency.Asset, error) {
	a, ok := s.assets[id]
	if !ok || (!c.Operator && a.Owner != c.Owner) {
		return a, problem.New(problem.NotFound, "there is no asset %q", id)
	}
	return a, nil
}

// PutAsset creates or changes an asset.
func (s *Service) PutAsset(ctx context.Context, id string, put dependency.Put) (dependency.Asset, dependency.Outcome, error) {
	c, leave, err := s.enter(ctx, "PutAsset")
	if err != nil {
		return dependency.Asset{}, "", err
	}
	defer leave()
	return s.put(c, id, put)
}

func (s *Service) put(c dependency.Caller, id string, put dependency.Put) (dependency.Asset, dependency.Outcome, error) {
	var none dependency.Asset
	if err := policy.ValidateID(id); err != nil {
		return none, "", err
	}
	if put.Kind != Kind {
		return none, "", problem.New(problem.UnknownKind, "the policy has no kind %q", put.Kind).At("kind")
	}
	owner := put.Owner
	if owner == "" {
		owner = c.Owner
	}
	if !c.Operator && owner != c.Owner {
		return none, "", problem.New(problem.Forbidden, "you act for %q", c.Owner).At("owner")
	}
	a, err := s.find(c, id)
	outcome := dependency.Changed
	if _, there := s.assets[id]; there && err != nil {
		return none, "", err
	}
	if err != nil || a.Status == dependency.Deleted {
		outcome = dependency.Created
		a = dependency.Asset{ID: id, Kind: Kind, Owner: owner, Generation: newID(), Status: dependency.Live, CreatedAt: time.Now().UTC()}
	}
	if put.Links != nil {
		for _, l := range *put.Links {
			if _, err := s.find(c, l.To); err != nil {
				return none, "", problem.New(problem.LinkTargetNotFound, "there is no asset %q", l.To).At("links[0].to")
			}
		}
		a.Links = slices.Clone(*put.Links)
	}
	if put.Attributes != nil {
		a.Attributes = put.Attributes
	}
	if put.Bytes != nil {
		a.Bytes = *put.Bytes
	}
	a.UpdatedAt = time.Now().UTC()
	s.assets[id] = a
	return a, outcome, nil
}

// Asset reads one.
func (s *Service) Asset(ctx context.Context, id string) (dependency.Asset, error) {
	c, leave, err := s.enter(ctx, "Asset")
	if err != nil {
		return dependency.Asset{}, err
	}
	defer leave()
	return s.find(c, id)
}

// Assets pages by id; the cursor is the last id.
func (s *Service) Assets(ctx context.Context, q dependency.AssetQuery) (dependency.Page[dependency.Asset], error) {
	var page dependency.Page[dependency.Asset]
	c, leave, err := s.enter(ctx, "Assets")
	if err != nil {
		return page, err
	}
	defer leave()
	for _, id := range slices.Sorted(maps.Keys(s.assets)) {
		a := s.assets[id]
		if id <= q.Cursor || (!c.Operator && a.Owner != c.Owner) || (q.Status != "" && a.Status != q.Status) ||
			(q.Kind != "" && a.Kind != q.Kind) || (q.Owner != "" && a.Owner != q.Owner) {
			continue
		}
		if len(page.Items) == q.Limit {
			page.NextCursor = page.Items[q.Limit-1].ID
			break
		}
		page.Items = append(page.Items, a)
	}
	return page, nil
}

// Dependants are the live sources of links to an asset, in one page.
func (s *Service) Dependants(ctx context.Context, id, _ string) (dependency.Page[dependency.Dependant], error) {
	var page dependency.Page[dependency.Dependant]
	c, leave, err := s.enter(ctx, "Dependants")
	if err != nil {
		return page, err
	}
	defer leave()
	if _, err := s.find(c, id); err != nil {
		return page, err
	}
	for _, from := range s.sources(id) {
		page.Items = append(page.Items, dependency.Dependant{ID: from, Type: LinkType, Kind: Kind, Status: dependency.Live})
	}
	return page, nil
}

func (s *Service) sources(id string) (from []string) {
	for _, source := range slices.Sorted(maps.Keys(s.assets)) {
		a := s.assets[source]
		if a.Status == dependency.Live && slices.ContainsFunc(a.Links, func(l dependency.LinkTo) bool { return l.To == id }) {
			from = append(from, source)
		}
	}
	return from
}

// Link makes a link.
func (s *Service) Link(ctx context.Context, id, linkType, to string) error {
	return s.link(ctx, "Link", id, dependency.LinkTo{Type: linkType, To: to}, func(links []dependency.LinkTo, l dependency.LinkTo) []dependency.LinkTo {
		return append(links, l)
	})
}

// Unlink removes one.
func (s *Service) Unlink(ctx context.Context, id, linkType, to string) error {
	return s.link(ctx, "Unlink", id, dependency.LinkTo{Type: linkType, To: to}, func(links []dependency.LinkTo, l dependency.LinkTo) []dependency.LinkTo {
		return slices.DeleteFunc(links, func(o dependency.LinkTo) bool { return o == l })
	})
}

func (s *Service) link(ctx context.Context, call, id string, l dependency.LinkTo, change func([]dependency.LinkTo, dependency.LinkTo) []dependency.LinkTo) error {
	c, leave, err := s.enter(ctx, call)
	if err != nil {
		return err
	}
	defer leave()
	if l.Type != LinkType {
		return problem.New(problem.UnknownLinkType, "the policy has no link type %q", l.Type).At("type")
	}
	a, err := s.find(c, id)
	if err != nil {
		return err
	}
	if _, err := s.find(c, l.To); err != nil {
		return problem.New(problem.LinkTargetNotFound, "there is no asset %q", l.To).At("to")
	}
	a.Links = change(a.Links, l)
	s.assets[id] = a
	return nil
}
