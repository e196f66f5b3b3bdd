package dependency

import "context"

// PlanningAPI tells what would be, and changes nothing.
type PlanningAPI interface {
	// Plan tells what the deletion of an asset would take, looking afresh into the graph and, unless GraphOnly, the stores.
	Plan(ctx context.Context, id string, r PlanRequest) (Plan, error)
}

// PlanRequest is what a plan depends on, besides the asset.
type PlanRequest struct {
	WithDependants bool `json:"with_dependants,omitempty"`
	// GraphOnly asks no store: documents, objects and bytes are left out, and there is no hash.
	GraphOnly bool `json:"graph_only,omitempty"`
}

// Plan is what a deletion would take. Its hash goes into DeleteRequest.IfPlan, so that nothing else is deleted than was
// planned.
type Plan struct {
	// Hash covers assets, detached links and object versions, in any order. It is opaque.
	Hash      string            `json:"hash"`
	Assets    []PlannedAsset    `json:"assets"` // the one asked for first
	Links     []PlannedLink     `json:"links"`  // those that would be detached
	Documents []PlannedDocument `json:"documents"`
	Objects   []PlannedObject   `json:"objects"`
	Bytes     int64             `json:"bytes"` // of the objects
	// Blockers are the first 100 that stand in the way, of BlockersTotal: such a deletion is refused.
	Blockers      []Blocker `json:"blockers"`
	BlockersTotal int       `json:"blockers_total"`
	// Kept are assets that would lose the last asset which uses them, and stay because they are on hold.
	Kept []string `json:"kept"`
}

// PlannedAsset is an asset that would go.
type PlannedAsset struct {
	ID         string `json:"id"`
	Generation string `json:"generation"` // empty for an adopted asset that has none yet
	Why        string `json:"why"`        // "requested", "PART_OF layer 7", …
}

// PlannedLink is a link that would be detached.
type PlannedLink struct {
	From string `json:"from"`
	Type string `json:"type"`
	To   string `json:"to"`
}

// PlannedDocument is a document that would go.
type PlannedDocument struct {
	Asset      string `json:"asset"`
	Part       string `json:"part"`
	Collection string `json:"collection"`
	Key        string `json:"key"`
}

// PlannedObject is an object version that would go; so would be a delete marker and an unfinished upload, whose id is the
// version.
type PlannedObject struct {
	Asset   string `json:"asset"`
	Part    string `json:"part"`
	Bucket  string `json:"bucket"`
	Key     string `json:"key"`
	Version string `json:"version"`
	Bytes   int64  `json:"bytes"`
	Marker  bool   `json:"marker,omitempty"`
	Upload  bool   `json:"upload,omitempty"`
}

// Blocker is an asset that stands in the way: by its link of a type, by its hold (BlockedByHold), or because another asset
// holds its place (BlockedByPlace).
type Blocker struct {
	Type  string `json:"type"`
	Asset string `json:"asset"`
}

// BlockedByPlace is the type of a Blocker from before that would go, but whose place is another asset's.
const BlockedByPlace = "place-taken"

// BlockedByHold is the type of a Blocker that would go, but for its hold.
const BlockedByHold = "hold"

// PlanDifference is the member `difference` of plan-changed: what differs between the plan agreed to and the one now.
type PlanDifference map[string]PlannedAndNow

// PlannedAndNow counts; Planned is absent when the hash was not one of ours.
type PlannedAndNow struct {
	Planned *int64 `json:"planned,omitempty"`
	Now     int64  `json:"now"`
	// Came and Went are the first 100 that are in one of the plans only, when the service has kept the one agreed to.
	Came []PlannedThing `json:"came,omitempty"`
	Went []PlannedThing `json:"went,omitempty"`
}

// PlannedThing is an asset, a detached link or an object version of a plan.
type PlannedThing struct {
	Asset      string `json:"asset,omitempty"`
	Generation string `json:"generation,omitempty"`
	From       string `json:"from,omitempty"`
	Type       string `json:"type,omitempty"`
	To         string `json:"to,omitempty"`
	Bucket     string `json:"bucket,omitempty"`
	Key        string `json:"key,omitempty"`
	Version    string `json:"version,omitempty"`
}
