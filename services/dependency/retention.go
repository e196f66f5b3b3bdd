package dependency

import (
	"context"
	"fmt"
	"math"

	"github.com/tombstone-project/tombstone/problem"
)

// retentionActor is who asks for the deletion of what has expired, in records and in the trail.
const retentionActor = "retention"

// Retention finds what has expired. With apply its deletion begins, in pages and in the background, over restarts too;
// and the policy counts as confirmed, so that further runs come by themselves.
func (s *Service) Retention(ctx context.Context, apply bool) (Expired, error) {
	by, err := operator(ctx)
	if err != nil {
		return Expired{}, err
	}
	found, err := s.findExpired(ctx, func() error { return nil })
	if err != nil || !apply {
		return found, err
	}
	if len(found.ExceedsShare) > 0 {
		return Expired{}, s.shareExceeded(found.ExceedsShare)
	}
	if err := s.beginRetention(ctx, by.Subject, found); err != nil {
		return Expired{}, err
	}
	found.Applied = true
	return found, nil
}

func (s *Service) shareExceeded(list []OwnerShare) error {
	o := list[0]
	whose := fmt.Sprintf("live assets of owner %q", o.Owner)
	if o.Owner == "" {
		whose = "live assets of all owners"
	}
	return problem.New(problem.ShareExceeded,
		"%d candidates to %d %s are more than limits.max_share_per_owner (%v); look at the dry run; if that is right, raise the limit in the policy and start the service again",
		o.Candidates, o.Live, whose, s.policy.Limits.MaxSharePerOwner).With("exceeds_share", list)
}

// findExpired counts everything that has expired, and changes nothing. After every page it calls alive, whose error ends it.
func (s *Service) findExpired(ctx context.Context, alive func() error) (Expired, error) {
	out := Expired{Findings: Findings{Candidates: []Candidate{}}}
	counted, owners := map[groupKey]ExpiredGroup{}, map[string]int{}
	err := s.walkExpired(ctx, walkMark{}, func(p expiredPage) error {
		out.Left.Held += p.left.Held
		out.Left.Dependants += p.left.Dependants
		last := ""
		for _, x := range p.found {
			out.add(x)
			k := groupKey{x.kind, x.part, x.owner}
			g := counted[k]
			counted[k] = ExpiredGroup{Kind: x.kind, Part: x.part, Owner: x.owner, Total: g.Total + 1, Bytes: g.Bytes + x.bytes}
			if x.asset != last { // what has expired of one asset comes together
				owners[x.owner]++
			}
			last = x.asset
		}
		return alive()
	})
	if err != nil {
		return out, err
	}
	out.Groups = groups(counted)
	out.ExceedsShare = []OwnerShare{}
	if s.policy.Limits.MaxSharePerOwner < 1 { // what expires is live
		out.ExceedsShare, err = s.exceedsShare(ctx, owners)
	}
	return out, err
}

// look is what a run has seen that has found this.
func (e *Expired) look() jobLook {
	return jobLook{Candidates: e.Total, Left: e.Left.Held + e.Left.Dependants, Oldest: e.Oldest}
}

func (e *Expired) add(x expiry) {
	if len(e.Candidates) < candidatesShown {
		e.Candidates = append(e.Candidates, x.candidate())
	}
	e.Total++
	e.Bytes += x.bytes
	if e.Oldest == nil || x.at.Before(*e.Oldest) {
		e.Oldest = &x.at
	}
}

// exceedsShare finds the owners of whom too large a share would lose something, at most 100 of them. It counts an owner's
// live assets only as far as it must. An empty owner stands for what tells none, and for all live assets.
func (s *Service) exceedsShare(ctx context.Context, candidates map[string]int) ([]OwnerShare, error) {
	over := []OwnerShare{}
	share := s.policy.Limits.MaxSharePerOwner
	for _, owner := range sortedKeys(candidates) {
		enough := math.MaxInt
		if share > 0 {
			enough = int(math.Ceil(float64(candidates[owner])/share - 1e-9))
		}
		live, err := s.countLive(ctx, owner, enough)
		if err != nil {
			return nil, err
		}
		if live < enough {
			over = append(over, OwnerShare{owner, candidates[owner], live})
		}
		if len(over) == namesShown {
			break
		}
	}
	return over, nil
}

// countLive counts an owner's live assets up to enough.
func (s *Service) countLive(ctx context.Context, owner string, enough int) (live int, err error) {
	f := NodeFilter{Owner: owner, Statuses: []Status{Live}, Limit: expiryPage}
	for live < enough {
		var nodes []Node
		err := s.graph.View(ctx, func(tx Tx) (err error) {
			nodes, err = tx.ListNodes(ctx, f)
			return err
		})
		if err != nil {
			return 0, err
		}
		if live += len(nodes); len(nodes) < f.Limit {
			break
		}
		f.After = nodes[len(nodes)-1].ID
	}
	return live, nil
}
