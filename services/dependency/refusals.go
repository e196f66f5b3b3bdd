package dependency

import (
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// namesShown is how many ids a refusal, or an answer that lists obstacles, names; what is more is counted.
const namesShown = 100

// at names the field of a refusal that was found deeper down.
func at(err error, field string) error {
	if p := problem.As(err); p != nil && p.Field == "" {
		return p.At(field)
	}
	return err
}

func assetNotFound(id string) error {
	return problem.New(problem.NotFound, "there is no asset %q", id)
}

func deletionNotFound(id string) error {
	return problem.New(problem.NotFound, "there is no deletion %q", id)
}

func linkTargetNotFound(id string) error {
	return problem.New(problem.LinkTargetNotFound, "there is no asset %q to link to; create it first", id)
}

func onHold(n Node) error {
	return problem.New(problem.OnHold, "asset %q is on hold since %s: %s", n.ID, n.Hold.At.Format(time.RFC3339), n.Hold.Reason)
}

// AskWithDependants ends the refusal of what others depend on: how to take them along, in the words of the HTTP API. A client
// with words of its own puts those there.
const AskWithDependants = "ask with_dependants"

func hasDependants(id string, d Dependants) error {
	who := fmt.Sprintf("%d assets depend", d.Total)
	if d.Total == 1 {
		who = "1 asset depends"
	}
	if len(d.First) == 0 {
		return problem.New(problem.HasDependants, "%s on %q, of other owners; ask an operator", who, id).
			With("dependants", []string{}).With("dependants_total", d.Total)
	}
	return problem.New(problem.HasDependants, "%s on %q: %s; delete first what depends on it, or %s", who, id, quoteSome(d.First, d.Total), AskWithDependants).
		With("dependants", d.First).With("dependants_total", d.Total)
}

// problemNamed tells whether an error is this refusal.
func problemNamed(err error, name problem.Name) bool {
	p := problem.As(err)
	return p != nil && p.Name == name
}
