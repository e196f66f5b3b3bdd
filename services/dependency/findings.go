package dependency

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// candidatesShown is how many candidates an answer names.
const candidatesShown = 1000

// Findings is what a search for things to remove has found. The candidates are the first 1,000; Total and Bytes count all.
type Findings struct {
	Candidates []Candidate `json:"candidates"`
	Total      int         `json:"total"`
	Bytes      int64       `json:"bytes"`
	// Applied: what was found goes, and has begun to.
	Applied bool `json:"applied"`
	// ExceedsShare are the owners of whom more was found than the policy's limits.max_share_per_owner allows; then nothing
	// may be applied.
	ExceedsShare []OwnerShare `json:"exceeds_share"`
}

// Candidate is one thing to remove.
type Candidate struct {
	Asset  string `json:"asset"`
	Part   string `json:"part,omitempty"`
	Place  string `json:"place,omitempty"`
	Reason string `json:"reason"`
	Bytes  int64  `json:"bytes"`
}

// OwnerShare is how many of an owner's live assets are candidates, wholly or with a part.
type OwnerShare struct {
	Owner      string `json:"owner"` // empty: unknown, and Live counts all
	Candidates int    `json:"candidates"`
	Live       int    `json:"live"`
}

// Expired is what retention has found. Its bytes are those of whole assets, as declared when they were put; of single
// parts none are declared.
type Expired struct {
	Findings
	// Groups count the candidates by kind, part and owner; the largest 1,000.
	Groups []ExpiredGroup `json:"groups"`
	// Left has expired, too, and stays for now.
	Left Left `json:"left"`
	// Oldest is when the candidate that has waited longest expired.
	Oldest *time.Time `json:"oldest,omitempty"`
}

// ExpiredGroup counts what has expired of one kind, part and owner.
type ExpiredGroup struct {
	Kind  string `json:"kind"`
	Part  string `json:"part,omitempty"` // empty: whole assets
	Owner string `json:"owner"`
	Total int    `json:"total"`
	Bytes int64  `json:"bytes"`
}

// Left counts what has expired and stays, by what it waits for.
type Left struct {
	Held       int `json:"held"`       // a legal hold
	Dependants int `json:"dependants"` // something needs the asset
}

type groupKey struct{ kind, part, owner string }

// groups puts the largest first.
func groups(counted map[groupKey]ExpiredGroup) []ExpiredGroup {
	list := slices.SortedFunc(maps.Values(counted), func(a, b ExpiredGroup) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Owner, b.Owner))
	})
	return list[:min(len(list), candidatesShown)]
}
