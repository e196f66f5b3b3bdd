package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// doctorCmd looks at a running service from outside.
type doctorCmd struct {
	remote
	Ready bool `help:"Ask only whether the service is ready. Needs no token: for the health check of a container."`
}

// Help has examples.
func (*doctorCmd) Help() string {
	return examples("tombstone doctor", "tombstone doctor --ready --url http://127.0.0.1:8080", "tombstone doctor --json")
}

// longPending is how long the oldest command that is due waits before somebody should look.
const longPending = time.Minute

// finding is the outcome of one look.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	// Warning: nothing is broken, and somebody should know.
	Warning bool   `json:"warning,omitempty"`
	Says    string `json:"says"`
}

// Run prints one line a look; any that is not good makes the exit code 1.
func (c *doctorCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	if err := api.Health(p.ctx); err != nil {
		return err
	}
	findings := []finding{{What: "service", OK: true, Says: c.URL + " answers"}}
	ready, err := api.Ready(p.ctx)
	if err != nil {
		return err
	}
	for _, store := range slices.Sorted(maps.Keys(ready.Stores)) {
		says := ready.Stores[store]
		findings = append(findings, finding{What: store, OK: says == "ok", Says: says})
	}
	if !c.Ready {
		findings = append(findings, c.access(p, api))
		findings = append(findings, c.deletions(p, api)...)
		findings = append(findings, c.stores(p, api)...)
	}
	return c.report(p, findings)
}

// access tries whether the token is good, by a call that reads one line.
func (c *doctorCmd) access(p *program, api *client.Client) finding {
	f := finding{What: "access", OK: true, Says: "calls are let in"}
	switch _, err := api.Assets(p.ctx, dependency.AssetQuery{Limit: 1}); {
	case errors.Is(err, problem.NotFound):
		f.Says = "not tried: the dependency service answers at another address"
	case err != nil:
		f.OK, f.Says = false, err.Error()
	}
	return f
}

// deletions tells what keeps deletions from ending, and the command that shows more.
func (c *doctorCmd) deletions(p *program, api *client.Client) (findings []finding) {
	o, err := api.Overview(p.ctx)
	if err != nil {
		return nil // it is elsewhere, or access has told it
	}
	warn := func(says string, args ...any) {
		findings = append(findings, finding{What: "deletions", OK: true, Warning: true, Says: fmt.Sprintf(says, args...)})
	}
	if o.Pause != nil {
		warn("%s", pausedSays(*o.Pause))
	}
	if o.Blocked+o.Stalled > 0 {
		warn("%d blocked, %d stalled; tombstone stalled lists them with the reason", o.Blocked, o.Stalled)
	}
	if o.Flags != nil && o.Flags.Oldest != nil && time.Since(*o.Flags.Oldest) > longPending {
		warn("a command waits for the broker since %s; tombstone pending lists such", moment(*o.Flags.Oldest))
	}
	return findings
}

// pausedSays tells who has paused physical deletion, and what ends the pause.
func pausedSays(pause dependency.Pause) string {
	says := "physical deletion is paused by " + pause.By + " since " + moment(pause.At)
	if pause.Reason != "" {
		says += " (" + pause.Reason + ")"
	}
	return says + "; tombstone resume goes on"
}

// stores tells how the buckets of the policy are, and what is not as the policy needs it.
func (c *doctorCmd) stores(p *program, api *client.Client) (findings []finding) {
	seen, err := api.Stores(p.ctx)
	switch {
	case errors.Is(err, problem.NotFound): // of an older version
		return []finding{{What: "buckets", OK: true, Says: "not looked at: the asset service answers at another address"}}
	case isTooOld(err):
		return []finding{{What: "asset service", OK: true, Warning: true, Says: "answers, and is too old to be asked about its stores; ask again when all of them are upgraded"}}
	case errors.Is(err, problem.Unavailable):
		return []finding{{What: "asset service", Says: "does not answer; what is accepted waits until one is up"}}
	case errors.Is(err, problem.Unauthenticated): // access has told it
		return nil
	case errors.Is(err, problem.Forbidden):
		return []finding{{What: "buckets", OK: true, Says: "not looked at: that needs the role operator"}}
	case err != nil:
		return []finding{{What: "buckets", Says: err.Error()}}
	}
	findings = append(findings, finding{What: "asset service", OK: true, Says: "answers"})
	for _, b := range seen.Buckets {
		says := "versions " + b.Versioning
		if b.ObjectLock {
			says += ", object locks"
		}
		if b.Replicated {
			says += ", replicated"
		}
		findings = append(findings, finding{What: "bucket " + b.Bucket, OK: true, Says: says})
	}
	for _, f := range seen.Findings {
		warning := f.Reason == "bucket-replicated" || f.Reason == "bucket-settings-hidden"
		findings = append(findings, finding{What: f.Reason, OK: warning, Warning: warning, Says: f.Detail})
	}
	return findings
}

// isTooOld tells that an asset service is up, of a version that cannot be asked about its stores.
func isTooOld(err error) bool {
	p := problem.As(err)
	return p != nil && p.Members[dependency.MemberTooOld] == true
}

func (c *doctorCmd) report(p *program, findings []finding) error {
	var rows [][]string
	bad := ""
	for _, f := range findings {
		mark := "ok"
		switch {
		case f.Warning:
			mark = "WARN"
		case !f.OK:
			mark = "BAD"
			bad += "; " + f.What + ": " + f.Says
		}
		rows = append(rows, []string{mark, f.What, f.Says})
	}
	if c.JSON {
		if err := json.NewEncoder(p.out).Encode(findings); err != nil {
			return err
		}
	} else {
		table(p.out, rows...)
	}
	if bad != "" {
		return errors.New(fmt.Sprint("not healthy", bad))
	}
	return nil
}
