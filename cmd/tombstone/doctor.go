package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// doctorCmd looks at a running service from outside.
type doctorCmd struct {
	remote
	Ready bool `help:"Ask only whether the service is ready. Needs no token: for the health check of a container."`
}

// finding is the outcome of one look.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
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
	}
	return c.report(p, findings)
}

// access tries whether the token is good, by a call that reads one line.
func (c *doctorCmd) access(p *program, api *client.Client) finding {
	f := finding{What: "access", OK: true, Says: "calls are let in"}
	if _, err := api.Assets(p.ctx, dependency.AssetQuery{Limit: 1}); err != nil {
		f.OK, f.Says = false, err.Error()
	}
	return f
}

func (c *doctorCmd) report(p *program, findings []finding) error {
	var rows [][]string
	bad := ""
	for _, f := range findings {
		mark := "ok"
		if !f.OK {
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
