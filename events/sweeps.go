package events

import "time"

// Shelf is what the dependency service asks the asset service to survey: a bucket below a prefix, or a collection.
type Shelf struct {
	Bucket string `json:"bucket,omitempty"`
	Prefix string `json:"prefix,omitempty"`
	// Collection, with the field and the type of the keys in it, as the policy has them.
	Collection string `json:"collection,omitempty"`
	IDField    string `json:"id_field,omitempty"`
	IDType     string `json:"id_type,omitempty"`
	// After is the Next of the survey before; empty: from the beginning.
	After string `json:"after,omitempty"`
}

// Survey is a page of what lies on a shelf, by place. What lies at no place of the policy is not told.
type Survey struct {
	Lodgers []Lodger `json:"lodgers,omitempty"`
	// Next continues the survey (Shelf.After); empty when it is at its end. A page may be empty and have a next one.
	Next string `json:"next,omitempty"`
}

// Lodger is what lies at one place that the policy would give an asset with this id, whether there is such an asset or not.
// A place may be told in several pages, each with some of what lies there.
type Lodger struct {
	Asset string `json:"asset"`
	// Owner and Generation are empty where the place does not hold them; a document tells its generation itself.
	Owner      string `json:"owner,omitempty"`
	Generation string `json:"generation,omitempty"`
	Kind       string `json:"kind"`
	Part       string `json:"part"`
	// Collection is set for a document, Bucket for objects.
	Collection string `json:"collection,omitempty"`
	IDField    string `json:"id_field,omitempty"`
	IDType     string `json:"id_type,omitempty"`
	Bucket     string `json:"bucket,omitempty"`
	// Place is the key of a document, the key of one object, or (Below) the prefix of all.
	Place string `json:"place"`
	Below bool   `json:"below,omitempty"`
	// Things and Bytes count what the page saw there.
	Things int64 `json:"things"`
	Bytes  int64 `json:"bytes,omitempty"`
	// Written is when the newest of it was written; zero for documents, which do not tell.
	Written time.Time `json:"written"`
}
