package policy

import (
	"math"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// noKinds is what to do about a policy without kinds.
const noKinds = "it names no kinds, so no asset could be created; write kinds: {NAME: {parts: {}}}"

// Bounds of durations.
const (
	shortest   = time.Millisecond // of what must be more than nothing
	youngest   = 24 * time.Hour   // an orphan: no clock and no slow upload is that far behind
	longestURL = 7 * day          // what a presigned URL can last

	anyDuration = time.Duration(math.MinInt64)
)

// defaults is the policy that a text without any of the sections has.
func defaults() *Policy {
	return &Policy{
		Graph:        Graph{Label: "Asset", ID: "id", Kind: "kind", Owner: "owner"},
		Links:        map[string]Link{},
		Limits:       Limits{MaxAssetsPerDeletion: 10000, MaxSharePerOwner: 1},
		Quotas:       Quotas{Owners: map[string]Quota{}},
		Grants:       Grants{DefaultTTL: 15 * time.Minute, MaxTTL: time.Hour, Margin: 5 * time.Minute},
		ResendAfter:  15 * time.Minute,
		RecheckAfter: day,
		StalledAfter: time.Hour,
		Events:       Events{MaxAge: 90 * day},
		Retention:    RetentionRun{Every: day, FirstRun: "dry"},
		Sweep:        Sweep{MinAge: 72 * time.Hour},
		Kinds:        map[string]*Kind{},
	}
}

// readPolicy reads the whole text.
func (r *reader) readPolicy(root ast.Node) {
	p := r.policy
	var keep ast.Node
	r.fields(root, "the policy",
		field{"graph", r.readGraph},
		field{"links", r.readLinks},
		field{"limits", r.readLimits},
		field{"quotas", r.readQuotas},
		field{"grants", r.readGrants},
		field{"tombstones", func(n ast.Node) {
			r.fields(n, "tombstones", field{"keep", func(n ast.Node) {
				keep = n
				r.duration(&p.Tombstones.Keep, "keep", 0)(n)
			}})
		}},
		field{"resend_after", r.duration(&p.ResendAfter, "resend_after", shortest)},
		field{"recheck_after", r.duration(&p.RecheckAfter, "recheck_after", shortest)},
		field{"stalled_after", r.duration(&p.StalledAfter, "stalled_after", shortest)},
		field{"events", func(n ast.Node) {
			r.fields(n, "events", field{"max_age", r.duration(&p.Events.MaxAge, "max_age", time.Second)})
		}},
		field{"retention", func(n ast.Node) {
			r.fields(n, "retention",
				field{"every", r.duration(&p.Retention.Every, "every", 0)},
				field{"first_run", r.oneOf(&p.Retention.FirstRun, "first_run", "dry", "apply")})
		}},
		field{"sweep", func(n ast.Node) {
			r.fields(n, "sweep",
				field{"every", r.duration(&p.Sweep.Every, "every", 0)},
				field{"min_age", r.duration(&p.Sweep.MinAge, "min_age", youngest)})
		}},
		field{"canary", r.readCanary},
		field{"kinds", r.readKinds},
	)
	r.checkKeep(keep)
	if len(p.Kinds) == 0 && len(r.faults) == 0 {
		r.fault(root, noKinds)
	}
}

// checkKeep refuses to purge tombstones that something may still come back to: an event that is published again, an erasure
// that is commanded or looked at again, an upload that was allowed.
func (r *reader) checkKeep(n ast.Node) {
	p := r.policy
	if p.Tombstones.Keep == 0 || len(r.faults) > 0 {
		return
	}
	for _, other := range []struct {
		name string
		d    time.Duration
	}{
		{"events.max_age", p.Events.MaxAge}, {"recheck_after", p.RecheckAfter}, {"resend_after", p.ResendAfter},
		{"grants.max_ttl and margin", p.Grants.MaxTTL + p.Grants.Margin},
	} {
		if p.Tombstones.Keep < other.d {
			r.fault(n, "keep is %s, shorter than %s (%s): what comes back until then must meet the tombstone; write that or more, or 0 for ever",
				durationText(p.Tombstones.Keep), other.name, durationText(other.d))
			return
		}
	}
}

func (r *reader) readLimits(n ast.Node) {
	most := int64(r.policy.Limits.MaxAssetsPerDeletion)
	r.fields(n, "limits",
		field{"max_assets_per_deletion", r.count(&most, "max_assets_per_deletion", 1)},
		field{"max_share_per_owner", r.share(&r.policy.Limits.MaxSharePerOwner, "max_share_per_owner")})
	r.policy.Limits.MaxAssetsPerDeletion = int(most)
}

// readQuotas reads the default first, wherever it stands: what an owner's quota does not name is as in the default.
func (r *reader) readQuotas(n ast.Node) {
	q := &r.policy.Quotas
	var owners []func()
	r.fields(n, "quotas",
		field{"default", func(n ast.Node) { r.readQuota(n, "default", &q.Default) }},
		field{"owners", func(n ast.Node) {
			r.entries(n, "owners", func(key, value ast.Node, owner string) {
				if err := ValidateID(owner); err != nil {
					r.fault(key, "%q is no owner: %s", owner, detail(err))
				}
				owners = append(owners, func() {
					quota := q.Default
					r.readQuota(value, owner, &quota)
					q.Owners[owner] = quota
				})
			})
		}})
	for _, read := range owners {
		read()
	}
}

func (r *reader) readQuota(n ast.Node, of string, q *Quota) {
	r.fields(n, "the quota "+of,
		field{"assets", r.count(&q.Assets, "assets", 0)},
		field{"bytes", r.size(&q.Bytes, "bytes")})
}

func (r *reader) readGrants(n ast.Node) {
	g := &r.policy.Grants
	before := len(r.faults)
	r.fields(n, "grants",
		field{"default_ttl", r.duration(&g.DefaultTTL, "default_ttl", shortest)},
		field{"max_ttl", r.duration(&g.MaxTTL, "max_ttl", shortest)},
		field{"margin", r.duration(&g.Margin, "margin", 0)})
	switch {
	case len(r.faults) > before:
	case g.MaxTTL > longestURL:
		r.fault(n, "max_ttl is %s, and a presigned URL lasts %s at most; write that or less", durationText(g.MaxTTL), durationText(longestURL))
	case g.DefaultTTL > g.MaxTTL:
		r.fault(n, "default_ttl is %s, more than max_ttl, %s; write at most that", durationText(g.DefaultTTL), durationText(g.MaxTTL))
	}
}

func (r *reader) readCanary(n ast.Node) {
	c := &r.policy.Canary
	r.canary = n
	r.fields(n, "canary",
		field{"every", r.duration(&c.Every, "every", 0)},
		field{"bucket", r.bucket(&c.Bucket)})
	if c.Every > 0 && c.Bucket == "" {
		r.fault(n, "canary has no bucket; write bucket: NAME, or every: 0")
	}
}
