package dependency

import (
	"context"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// readOther finds the assets whose deletion would take others along or detach links. Those links are in the policy, but
// carrying them out is not built yet: such a request is refused by name and changes nothing.
func (w *acceptWorld) readOther(ctx context.Context, ids []string) error {
	w.other = map[string]string{}
	for _, reaction := range []policy.Reaction{policy.Cascade, policy.Detach} {
		found, err := w.tx.Dependants(ctx, ids, w.s.policy.LinkTypes(reaction), 1)
		if err != nil {
			return err
		}
		for id := range found {
			w.other[id] = "on_target_delete: " + string(reaction)
		}
	}
	links, err := w.tx.Outgoing(ctx, ids)
	for _, l := range links {
		if l.Hidden == "" && w.s.policy.Links[l.Type].OnLastSourceDelete {
			w.other[l.From] = "on_last_source: delete"
		}
	}
	return err
}

// refuseOther answers requests that need more than one asset and restrict links.
func (w *acceptWorld) refuseOther(it acceptItem, n Node) error {
	switch {
	case it.IfPlan != "":
		return problem.New(problem.NotImplemented, "If-Plan is not available yet")
	case it.WithDependants && w.dependants[n.ID].Total > 0:
		return problem.New(problem.NotImplemented, "with_dependants is not available yet; delete the dependants first")
	case w.other[n.ID] != "":
		return problem.New(problem.NotImplemented, "asset %q has links whose policy is %s, which is not available yet; unlink them first", n.ID, w.other[n.ID])
	}
	return nil
}
