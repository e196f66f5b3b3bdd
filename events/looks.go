package events

// Target is what the dependency service asks the asset service to look at: parts of one asset, each in its generation.
type Target struct {
	Asset      string `json:"asset"`
	Kind       string `json:"kind"`
	Owner      string `json:"owner"`
	Generation string `json:"generation"`
	// Parts is as in Erase: the parts to look at, and the generation of each; absent means all, in Generation.
	Parts map[string]string `json:"parts,omitempty"`
	// Attributes are the asset's, for templates that use them.
	Attributes map[string]any `json:"attributes,omitempty"`
	// Past names parts whose generation is past: what lies at a place that does not hold the generation may be a newer one's,
	// or another asset's, by now. There only a document that says that it is of this generation is told.
	Past []string `json:"past,omitempty"`
	// After is the Next of the sight before; empty: from the beginning.
	After string `json:"after,omitempty"`
}

// Sight is what lay at the places of a Target when they were looked at, former places included, or a page of it.
type Sight struct {
	Found []Thing `json:"found,omitempty"`
	// Unseen are places that nobody could look into until an operator removes an obstacle.
	Unseen []Unseen `json:"unseen,omitempty"`
	// Next continues the look (Target.After); empty when it is at its end. A page may be empty and have a next one.
	Next string `json:"next,omitempty"`
}

// Forms of a Thing.
const (
	FormDocument = "document"
	FormVersion  = "version" // of an object
	FormMarker   = "marker"  // a delete marker
	FormUpload   = "upload"  // an unfinished upload
)

// Thing is one thing in a store.
type Thing struct {
	Part string `json:"part"`
	Form string `json:"form"`
	// Collection is set for a document, Bucket and Version for all else; Version is the upload's id for an upload.
	Collection string `json:"collection,omitempty"`
	Bucket     string `json:"bucket,omitempty"`
	Key        string `json:"key"`
	Version    string `json:"version,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
}

// ReasonBucketMissing is the reason of an Unseen whose bucket does not exist.
const ReasonBucketMissing = "bucket-missing"

// Unseen is an obstacle to looking at a part.
type Unseen struct {
	Part   string `json:"part,omitempty"` // empty: the whole asset
	Reason string `json:"reason"`         // as `blocked` of a deletion has it
	Detail string `json:"detail,omitempty"`
}

// String tells the obstacle.
func (u Unseen) String() string {
	if u.Detail == "" {
		return u.Reason
	}
	return u.Reason + ": " + u.Detail
}
