package apitest

import (
	"context"
	"strconv"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Plan names the asset, one document and one object of it; what depends on it stands in the way, or goes along. Its hash
// tells how many assets go. For Before, one of the graph alone is PlanOfGraph.
func (s *Service) Plan(ctx context.Context, id string, r dependency.PlanRequest) (dependency.Plan, error) {
	call := "Plan"
	if r.GraphOnly {
		call = "PlanOfGraph"
	}
	c, leave, err := s.enter(ctx, call)
	if err != nil {
		return dependency.Plan{}, err
	}
	defer leave()
	a, err := s.find(c, id)
	if err != nil {
		return dependency.Plan{}, err
	}
	p := dependency.Plan{Bytes: 12, Assets: []dependency.PlannedAsset{{ID: id, Generation: a.Generation, Why: "requested"}},
		Documents: []dependency.PlannedDocument{{Asset: id, Part: Part, Collection: "descriptions", Key: id}},
		Objects:   []dependency.PlannedObject{{Asset: id, Part: "payload", Bucket: "assets", Key: "payload/" + id, Version: "v1", Bytes: 12}}}
	for _, from := range s.sources(id) {
		if r.WithDependants {
			p.Assets = append(p.Assets, dependency.PlannedAsset{ID: from, Generation: s.assets[from].Generation, Why: LinkType + " " + id})
		} else {
			p.Blockers = append(p.Blockers, dependency.Blocker{Type: LinkType, Asset: from})
		}
	}
	p.BlockersTotal = len(p.Blockers)
	if r.GraphOnly {
		p.Documents, p.Objects, p.Bytes = nil, nil, 0
		return p, nil
	}
	p.Hash = strconv.Itoa(len(p.Assets))
	return p, nil
}
