package asset

import "context"

// StoresView is what a look at the stores finds: how each bucket of the policy keeps what it holds, and what is not as the
// policy needs it.
type StoresView struct {
	Buckets  []BucketView `json:"buckets"`
	Findings []Finding    `json:"findings"`
}

// BucketView is one bucket that answers.
type BucketView struct {
	Bucket     string `json:"bucket"`
	Versioning string `json:"versioning" doc:"enabled, suspended or off"`
	ObjectLock bool   `json:"object_lock"`
	Replicated bool   `json:"replicated"`
}

// Stores looks at the stores now. It changes nothing.
func (s *Service) Stores(ctx context.Context) (StoresView, error) {
	return LookAtStores(ctx, Config{Policy: s.policy, Documents: s.documents, Blobs: s.blobs}), nil
}
