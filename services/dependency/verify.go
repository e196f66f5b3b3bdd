package dependency

import (
	"context"
	"reflect"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

const (
	// verifyPage is how many subjects are looked at together.
	verifyPage = 200
	// violationsShown is how many violations an answer has.
	violationsShown = 1000
	// pagesKept bounds what is kept of what lies where nothing must lie.
	pagesKept = 10
	// verifyTries is how often something that keeps changing is looked at again. What never stands still is not judged.
	verifyTries = 5
)

// Verify holds everything to the guarantees that can be seen from here: every asset and its links, trail and owner's
// counters, every deletion, and every place that an erasure has emptied. It takes pages of bounded size, and no locks.
//
// Work goes on meanwhile. So what looks wrong at first is only a suspect: it is looked at again, in a transaction that reads
// it twice, before and after a fresh look into the stores, and counts only if nothing about it changed.
func (s *Service) Verify(ctx context.Context, r VerifyRequest) (Verification, error) {
	if _, err := operator(ctx); err != nil {
		return Verification{}, err
	}
	v := &verifier{Service: s, since: r.Since, apply: r.Apply, result: Verification{Violations: []Violation{}}, owners: map[string]Usage{}}
	steps := []func(context.Context) error{v.assets, v.deletions, v.usage}
	if v.since != nil {
		steps = []func(context.Context) error{v.deletions}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return Verification{}, err
		}
	}
	return v.result, nil
}

// verifier is one run.
type verifier struct {
	*Service
	since  *time.Time
	apply  bool
	result Verification
	owners map[string]Usage // what the assets add up to, as they were read
	looked bool             // the stores have answered: from then on a store that is away for a moment does not end the run
}

// subject is what is judged together: an asset, or what one deletion does to it.
type subject struct{ asset, deletion string }

func (v *verifier) report(found ...Violation) {
	for _, violation := range found {
		if v.result.Total++; v.result.Total <= violationsShown {
			v.result.Violations = append(v.result.Violations, violation)
		}
	}
}

// assets walks along all assets.
func (v *verifier) assets(ctx context.Context) error {
	for after := ""; ; {
		var nodes []Node
		err := v.graph.View(ctx, func(tx Tx) (err error) {
			nodes, err = tx.ListNodes(ctx, NodeFilter{After: after, Limit: verifyPage})
			return err
		})
		if err != nil {
			return err
		}
		var page []subject
		for _, n := range nodes {
			page = append(page, subject{asset: n.ID})
			u := v.owners[n.Owner]
			u.add(n)
			v.owners[n.Owner] = u
		}
		if err := v.examine(ctx, page); err != nil {
			return err
		}
		v.result.Checked += len(nodes)
		if len(nodes) < verifyPage {
			return nil
		}
		after = nodes[len(nodes)-1].ID
	}
}

// deletions walks along all deletions, and what they do to each asset.
func (v *verifier) deletions(ctx context.Context) error {
	var page []subject
	for after := ""; ; {
		var records []DeletionRecord
		err := v.graph.View(ctx, func(tx Tx) (err error) {
			records, err = tx.ListDeletions(ctx, DeletionFilter{After: after, Limit: defaultLimit})
			return err
		})
		if err != nil {
			return err
		}
		for _, d := range records {
			after = d.ID
			if v.since != nil && d.CompletedAt.Before(*v.since) { // or not completed
				continue
			}
			if page, err = v.deletion(ctx, d, page); err != nil {
				return err
			}
		}
		if len(records) < defaultLimit {
			return v.examine(ctx, page)
		}
	}
}

// deletion adds the erasures of one deletion to the page, and examines full pages. Its sums are looked at, too.
func (v *verifier) deletion(ctx context.Context, d DeletionRecord, page []subject) ([]subject, error) {
	var total, done int
	for after := -1; ; {
		var list []Erasure
		err := v.graph.View(ctx, func(tx Tx) (err error) {
			list, err = tx.ListErasures(ctx, d.ID, after, verifyPage)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			total++
			if v.since != nil {
				v.result.Checked++
			}
			if e.Done {
				done++
			}
			if page = append(page, subject{e.Asset, d.ID}); len(page) == verifyPage {
				if err := v.examine(ctx, page); err != nil {
					return nil, err
				}
				page = page[:0]
			}
			after = e.Position
		}
		if len(list) < verifyPage {
			break
		}
	}
	if total != d.Total || done != d.Done {
		return page, v.sums(ctx, d.ID)
	}
	return page, nil
}

// sums looks again whether a deletion's sums are those of its erasures.
func (v *verifier) sums(ctx context.Context, id string) error {
	for range verifyTries {
		var before, after DeletionRecord
		var all []Erasure
		err := v.graph.View(ctx, func(tx Tx) error {
			one, err := tx.Deletions(ctx, []string{id})
			if err != nil {
				return err
			}
			if all, err = allErasures(ctx, tx, id); err != nil {
				return err
			}
			two, err := tx.Deletions(ctx, []string{id})
			before, after = one[id], two[id]
			return err
		})
		if err != nil {
			return err
		}
		if reflect.DeepEqual(before, after) {
			v.report(judgeSums(after, all)...)
			return nil
		}
	}
	return nil
}

// examine judges subjects, and reports what is wrong still when it is looked at again.
func (v *verifier) examine(ctx context.Context, subjects []subject) error {
	var all map[subject]facts
	err := v.graph.View(ctx, func(tx Tx) (err error) {
		all, err = v.readFacts(ctx, tx, subjects)
		return err
	})
	if err != nil {
		return err
	}
	sights, err := v.lookAt(ctx, subjects, all)
	if err != nil {
		return err
	}
	var suspects []subject
	for _, s := range subjects {
		if len(v.judge(s, all[s], sights[s])) > 0 {
			suspects = append(suspects, s)
		}
	}
	for range verifyTries {
		if len(suspects) == 0 {
			return nil
		}
		if suspects, err = v.confirm(ctx, suspects); err != nil {
			return err
		}
	}
	return nil
}

// confirm judges suspects again, and reports. It gives those about which something changed meanwhile.
func (v *verifier) confirm(ctx context.Context, suspects []subject) (moving []subject, err error) {
	before, err := v.stillFacts(ctx, suspects)
	if err != nil {
		return nil, err
	}
	sights, err := v.lookAt(ctx, suspects, before)
	if err != nil {
		return nil, err
	}
	after, err := v.stillFacts(ctx, suspects)
	if err != nil {
		return nil, err
	}
	var again []Erasure
	for _, s := range suspects {
		f, still := before[s]
		if g, ok := after[s]; !still || !ok || !reflect.DeepEqual(f, g) {
			moving = append(moving, s)
			continue
		}
		v.report(v.judge(s, f, sights[s])...)
		if v.apply && len(sights[s].Found) > 0 {
			again = append(again, f.erasure)
		}
	}
	driven, err := v.lookAgain(ctx, again)
	v.result.Driven += driven
	return moving, err
}

// stillFacts reads facts twice in one transaction, because the graph may be read-committed, and gives those that are the same.
func (v *verifier) stillFacts(ctx context.Context, subjects []subject) (map[subject]facts, error) {
	var first, second map[subject]facts
	err := v.graph.View(ctx, func(tx Tx) (err error) {
		if first, err = v.readFacts(ctx, tx, subjects); err != nil {
			return err
		}
		second, err = v.readFacts(ctx, tx, subjects)
		return err
	})
	for s := range first {
		if !reflect.DeepEqual(first[s], second[s]) {
			delete(first, s)
		}
	}
	return first, err
}

// lookAt looks afresh at the places that the subjects have emptied. What nobody can look at any more, because the policy has
// forgotten where it was, is left out.
func (v *verifier) lookAt(ctx context.Context, subjects []subject, all map[subject]facts) (map[subject]events.Sight, error) {
	var targets []events.Target
	var whose []subject
	for _, s := range subjects {
		if t, ok := v.emptied(s, all[s]); ok {
			targets, whose = append(targets, t), append(whose, s)
		}
	}
	for try := 1; ; try++ {
		sights, err := v.lookOnce(ctx, targets, whose)
		if err == nil {
			v.looked = true
			return sights, nil
		}
		if !v.looked || try == verifyTries || ctx.Err() != nil || !problemNamed(err, problem.Unavailable) {
			return nil, err
		}
	}
}

// lookOnce looks at all targets to their ends.
func (v *verifier) lookOnce(ctx context.Context, targets []events.Target, whose []subject) (map[subject]events.Sight, error) {
	sights := map[subject]events.Sight{}
	pages := make([]int, len(targets))
	err := v.lookAll(ctx, targets, func(i int, seen events.Sight) error {
		sight := sights[whose[i]]
		if pages[i]++; pages[i] <= pagesKept {
			sight.Found = append(sight.Found, seen.Found...)
		}
		sight.Unseen, sight.Next = append(sight.Unseen, seen.Unseen...), seen.Next
		sights[whose[i]] = sight
		return nil
	})
	return sights, err
}
