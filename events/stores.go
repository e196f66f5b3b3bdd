package events

// StoresView is what a look at the asset service's stores finds: how each bucket of the policy keeps what it holds, and what is
// not as the policy needs it.
type StoresView struct {
	Buckets  []BucketView   `json:"buckets"`
	Findings []StoreFinding `json:"findings"`
}

// BucketView is one bucket that answers.
type BucketView struct {
	Bucket     string `json:"bucket"`
	Versioning string `json:"versioning" doc:"enabled, suspended or off"`
	ObjectLock bool   `json:"object_lock"`
	Replicated bool   `json:"replicated"`
}

// StoreFinding is one thing that is wrong, or worth knowing, with the stores that the policy names.
type StoreFinding struct {
	Fatal  bool   `json:"fatal,omitempty"` // the asset service must not start: a place without a fence
	Reason string `json:"reason"`          // its stable name
	Kind   string `json:"kind,omitempty"`  // of the part that shows it; empty when it concerns a whole bucket or store
	Part   string `json:"part,omitempty"`
	Bucket string `json:"bucket,omitempty"`
	Detail string `json:"detail"` // for people, with what to do
}
