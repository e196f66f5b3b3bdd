package asset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

const (
	// maxTargets is how many targets one look takes in.
	maxTargets = 100
	// glance is how many objects a first look takes in at one place; a place that has more is looked at page by page.
	glance = 100
	// maxSight is about the largest sight, in bytes of JSON: far below what a broker takes.
	maxSight = 256 << 10
)

// Inspector tells what lies in the stores. It finds places by the same code as the Eraser, and changes nothing.
type Inspector struct {
	policy    *policy.Policy
	documents Documents
	blobs     Blobs
}

// NewInspector makes an Inspector of the policy and the stores of the configuration.
func NewInspector(c Config) *Inspector {
	return &Inspector{policy: c.Policy, documents: c.Documents, blobs: c.Blobs}
}

// Look looks afresh at all places of each target, and gives sights of the first targets, at least one. Obstacles are told in
// the sights; a store that does not answer is problem.Unavailable, whatever of it has answered.
func (i *Inspector) Look(ctx context.Context, targets []events.Target) ([]events.Sight, error) {
	if len(targets) > 0 && targets[0].After != "" {
		sight, err := i.further(ctx, targets[0])
		return []events.Sight{sight}, err
	}
	var begun []*inspection
	for _, t := range targets[:min(len(targets), maxTargets)] {
		if t.After != "" {
			break
		}
		begun = append(begun, i.begin(t))
	}
	if err := i.lookTogether(ctx, begun); err != nil {
		return nil, err
	}
	var sights []events.Sight
	room := room{pageSize, maxSight}
	for _, in := range begun {
		sight, fits := in.sight(&room)
		if !fits && len(sights) > 0 {
			break
		}
		sights = append(sights, sight)
	}
	return sights, nil
}

// lookTogether takes a first look at all places of all targets, in one call of each store.
func (i *Inspector) lookTogether(ctx context.Context, begun []*inspection) error {
	var refs []DocumentRef
	var places []Place
	for _, in := range begun {
		for _, d := range in.documents {
			refs = append(refs, d.ref)
		}
		for _, p := range in.places {
			places = append(places, p.Place)
		}
	}
	var exists []bool
	var listings []Listing
	var missing, unlisted []error
	each(2, func(n int) {
		if n == 0 {
			exists, missing = i.documents.Exists(ctx, refs)
		} else {
			listings, unlisted = i.blobs.List(ctx, places, glance)
		}
	})
	for _, in := range begun {
		for n := range in.documents {
			d := &in.documents[n]
			d.there, d.err = exists[0], missing[0]
			exists, missing = exists[1:], missing[1:]
		}
		for n := range in.places {
			in.places[n].Listing, in.places[n].err = listings[0], unlisted[0]
			listings, unlisted = listings[1:], unlisted[1:]
		}
	}
	return away(begun)
}

// away is the error of the first store that did not answer.
func away(begun []*inspection) error {
	for _, in := range begun {
		for _, d := range in.documents {
			if err := notSeen("documents", d.err); err != nil {
				return err
			}
		}
		for _, p := range in.places {
			if err := notSeen("blobs", p.err); err != nil {
				return err
			}
		}
	}
	return nil
}

// notSeen makes of an error that is no obstacle the refusal of a store that is away.
func notSeen(store string, err error) error {
	if err == nil || AsBlocked(err) != nil || errors.Is(err, ErrEmptyKey) {
		return nil
	}
	return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "what lies in the stores cannot be seen now; try again").With("store", store), err)
}

// further is the next page of a look: some of one place.
func (i *Inspector) further(ctx context.Context, t events.Target) (events.Sight, error) {
	in := i.begin(t)
	number, mark, err := readAfter(t.After)
	if err != nil || number >= len(in.places) {
		return events.Sight{}, problem.New(problem.InvalidRequest, "this look cannot be continued here; begin it again").At("after")
	}
	p := in.places[number]
	for limit := pageSize; ; limit /= 2 {
		versions, next, err := i.blobs.Page(ctx, p.Place, mark, limit)
		if err := notSeen("blobs", err); err != nil {
			return events.Sight{}, err
		}
		var sight events.Sight
		room := room{pageSize, maxSight}
		if err != nil {
			sight.Unseen = append(sight.Unseen, unseen(p.part, err))
			next = ""
		}
		sight.Found = objectsAt(p.part, p.Bucket, versions)
		if limit > minPage && !room.take(sight.Found) {
			continue
		}
		if next != "" {
			sight.Next = after(number, next)
		} else if number+1 < len(in.places) {
			sight.Next = after(number+1, "")
		}
		return sight, nil
	}
}

// minPage is the least that a page shrinks to.
const minPage = 10

// after is where a look goes on: the number of the place, and the mark there.
func after(place int, mark string) string { return fmt.Sprintf("%d %s", place, mark) }

func readAfter(text string) (place int, mark string, err error) {
	number, mark, _ := strings.Cut(text, " ")
	place, err = strconv.Atoi(number)
	if err == nil && place < 0 {
		err = errors.New("no such place")
	}
	return place, mark, err
}

// room is what is left of an answer: things, and bytes of JSON.
type room struct{ things, bytes int }

// take tells whether the things fit, and takes their room.
func (r *room) take(found []events.Thing) bool {
	left := *r
	left.things -= len(found)
	for _, t := range found {
		data, err := json.Marshal(t)
		if err != nil { // strings and numbers always encode
			panic(err)
		}
		left.bytes -= len(data) + 1
	}
	if left.things < 0 || left.bytes < 0 {
		return false
	}
	*r = left
	return true
}
