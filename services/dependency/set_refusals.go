package dependency

import (
	"maps"
	"slices"
)

// refusals finds the roots of a closure that must stay, and why; none when everything may go. An asset must stay when it is
// held, when something that stays depends on it, or when what has to go with it must stay.
func (c *closure) refusals(limit int) map[string]error {
	refused := map[string]error{}
	sizes := map[string]int{}
	for _, id := range c.order {
		sizes[c.root[id]]++
	}
	s := stays{closure: c, needs: reversed(c.along), on: reversed(c.against), blockers: map[string]map[string]bool{}}
	stuck := s.outside()
	for id := range c.roots {
		if sizes[id] > limit {
			refused[id] = tooManyAssets(sizes[id], limit)
			stuck = append(stuck, s.stay(id)...)
		}
	}
	for len(stuck) > 0 {
		var next []string
		for _, id := range s.rootsOf(stuck) {
			if _, known := refused[id]; !known {
				refused[id] = nil // its reason is known when all that stays is
				next = append(next, s.stay(id)...)
			}
		}
		stuck = next
	}
	for id, err := range refused {
		if err == nil {
			refused[id] = s.why(id)
		}
	}
	return refused
}

// stays works out what must stay.
type stays struct {
	*closure
	needs    map[string][]string        // asset → those that cannot go without it
	on       map[string][]string        // dependant → what it depends on
	blockers map[string]map[string]bool // asset that was to go → dependants that stay
}

// outside finds what is stuck from the beginning: what is held, and what something outside depends on.
func (s *stays) outside() (stuck []string) {
	for _, id := range s.order {
		for _, from := range s.against[id] {
			if s.closure.why[from] == "" {
				s.block(id, from)
			}
		}
		if s.w.nodes[id].Hold != nil || s.w.contested[id] != "" || len(s.blockers[id]) > 0 {
			stuck = append(stuck, id)
		}
	}
	return stuck
}

// stay notes that a root stays, and gives what that stops.
func (s *stays) stay(root string) []string {
	for _, id := range s.on[root] {
		s.block(id, root)
	}
	return s.on[root]
}

func (s *stays) block(id, by string) {
	if s.blockers[id] == nil {
		s.blockers[id] = map[string]bool{}
	}
	s.blockers[id][by] = true
}

// rootsOf are the roots that cannot go without the assets.
func (s *stays) rootsOf(assets []string) (roots []string) {
	for id := range reach(assets, s.needs) {
		if s.roots[id] {
			roots = append(roots, id)
		}
	}
	return roots
}

// why is the refusal of a root: a hold on anything that has to go with it, else all that depends on any of it and stays.
func (s *stays) why(root string) error {
	blockers := map[string]bool{}
	for id := range reach([]string{root}, s.along) {
		if n := s.w.nodes[id]; n.Hold != nil {
			return onHold(n)
		}
		if err := s.w.ownPlaces(id); err != nil {
			return err
		}
		maps.Copy(blockers, s.blockers[id])
	}
	first := slices.Sorted(maps.Keys(blockers))
	return hasDependants(root, Dependants{First: first[:min(len(first), namesShown)], Total: len(first)})
}

// reach gives all that edges lead to, the beginning included.
func reach(from []string, edges map[string][]string) map[string]bool {
	seen := map[string]bool{}
	for todo := slices.Clone(from); len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[id] {
			seen[id] = true
			todo = append(todo, edges[id]...)
		}
	}
	return seen
}

func reversed(edges map[string][]string) map[string][]string {
	out := map[string][]string{}
	for from, all := range edges {
		for _, to := range all {
			out[to] = append(out[to], from)
		}
	}
	return out
}
