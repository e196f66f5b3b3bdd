package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Aged is what retention looks at in an asset.
type Aged struct {
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Attributes map[string]any // as encoding/json decodes them
}

// ExpiresAt tells from when on the rule lets an asset or a part go, in UTC. ok is false when it never does, or not as the
// asset is now: `after` is 0 or negative, the condition does not hold, or there is no time to count from. Ages are
// elapsed time and know no calendar, so neither time zones nor daylight saving move them.
func (r *Retention) ExpiresAt(a Aged) (at time.Time, ok bool) {
	if r == nil || r.After <= 0 || !r.holds(a.Attributes) {
		return time.Time{}, false
	}
	began := r.time(a)
	if began.IsZero() {
		return time.Time{}, false
	}
	return began.UTC().Add(r.After), true
}

// time is what the age is counted from; zero when it is not known, which must never read as very old.
func (r *Retention) time(a Aged) time.Time {
	switch r.Clock {
	case "created_at":
		return a.CreatedAt
	case "updated_at":
		return a.UpdatedAt
	}
	text, _ := a.Attributes[strings.TrimPrefix(r.Clock, "attributes.")].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// holds tells whether each attribute of the condition has one of its values.
func (r *Retention) holds(attributes map[string]any) bool {
	for name, values := range r.When {
		if !slices.ContainsFunc(values, func(text string) bool { return equals(attributes[name], text) }) {
			return false
		}
	}
	return true
}

// equals compares an attribute with a scalar of the policy as it was written.
func equals(attribute any, text string) bool {
	switch v := attribute.(type) {
	case string:
		return v == text
	case bool:
		return strconv.FormatBool(v) == text
	case float64:
		n, err := strconv.ParseFloat(text, 64)
		return err == nil && n == v
	}
	return false
}

// Text is the rule's age as a policy would write it.
func (r *Retention) Text() string {
	if days := r.After / day; r.After > 0 && r.After%day == 0 {
		return strconv.FormatInt(int64(days), 10) + "d"
	}
	return durationText(r.After)
}

// Expires tells whether assets of the kind, or single parts of them, ever expire.
func (k *Kind) Expires() bool {
	if k.Retention != nil && k.Retention.After > 0 {
		return true
	}
	return slices.ContainsFunc(k.Parts, func(p *Part) bool { return p.Retention != nil && p.Retention.After > 0 })
}
