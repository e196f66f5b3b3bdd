package apitest

import (
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Upload gives a URL that leads nowhere.
func (s *Service) Upload(ctx context.Context, id string, r asset.ObjectRequest, bytes *int64) (asset.Grant, error) {
	g, err := s.grant(ctx, "Upload", id, r)
	g.Method = "PUT"
	if bytes != nil {
		g.Headers["Content-Length"] = strconv.FormatInt(*bytes, 10)
	}
	return g, err
}

// Download gives another one.
func (s *Service) Download(ctx context.Context, id string, r asset.ObjectRequest) (asset.Grant, error) {
	g, err := s.grant(ctx, "Download", id, r)
	g.Method = "GET"
	return g, err
}

func (s *Service) grant(ctx context.Context, call, id string, r asset.ObjectRequest) (asset.Grant, error) {
	g := asset.Grant{URL: "http://objects.example/" + r.Name, Key: r.Part + "/" + r.Name, Headers: map[string]string{}, ExpiresAt: epoch.Add(r.TTL)}
	_, leave, err := s.enterLive(ctx, call, id)
	if err != nil {
		return g, err
	}
	defer leave()
	return g, nil
}

// epoch is the time at which everything here is given out.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// token is that of every lease.
const token = "the-lease"

// Lease gives out the lease, again and again.
func (s *Service) Lease(ctx context.Context, id string, ttl time.Duration) (asset.Lease, error) {
	_, leave, err := s.enterLive(ctx, "Lease", id)
	if err != nil {
		return asset.Lease{}, err
	}
	defer leave()
	return asset.Lease{Token: token, ExpiresAt: epoch.Add(ttl)}, nil
}

// RenewLease sets attributes.
func (s *Service) RenewLease(ctx context.Context, id, lease string, ttl time.Duration, attributes map[string]any) (asset.Lease, error) {
	a, leave, err := s.enterLive(ctx, "RenewLease", id)
	if err != nil {
		return asset.Lease{}, err
	}
	defer leave()
	if lease != token {
		return asset.Lease{}, problem.New(problem.LeaseLost, "there is no such lease")
	}
	changed := map[string]any{}
	maps.Copy(changed, a.Attributes)
	maps.Copy(changed, attributes)
	a.Attributes = changed
	s.assets[id] = a
	return asset.Lease{Token: token, ExpiresAt: epoch.Add(ttl)}, nil
}

// enterLive begins a call about a live asset of the caller's.
func (s *Service) enterLive(ctx context.Context, call, id string) (dependency.Asset, func(), error) {
	c, leave, err := s.enter(ctx, call)
	if err != nil {
		return dependency.Asset{}, nil, err
	}
	a, err := s.find(c, id)
	if err == nil && a.Status != dependency.Live {
		err = problem.New(problem.Gone, "asset %q is %s", id, a.Status)
	}
	if err != nil {
		leave()
		return a, nil, err
	}
	return a, leave, nil
}
