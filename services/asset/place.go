package asset

import "strings"

// CheckShelf refuses what no page of a listing can be of; looking, unlike deleting, may be wider than one asset's place:
// below any prefix, or at a whole bucket.
func (p Place) CheckShelf() error {
	if p.Bucket == "" || p.Key != "" && p.Prefix != "" {
		return ErrBadPlace
	}
	return nil
}

// Check refuses a place that could mean more than one asset's objects: ErrBadPlace. Adapters call it before anything is
// sent, whatever the policy has checked already.
func (p Place) Check() error {
	prefix := strings.HasSuffix(p.Prefix, "/") && strings.Trim(p.Prefix, "/") != ""
	if p.Bucket == "" || (p.Key != "") == (p.Prefix != "") || p.Prefix != "" && !prefix {
		return ErrBadPlace
	}
	return nil
}
