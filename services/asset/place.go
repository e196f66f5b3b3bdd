package asset

import "strings"

// Check refuses a place that could mean more than one asset's objects: ErrBadPlace. Adapters call it before anything is
// sent, whatever the policy has checked already.
func (p Place) Check() error {
	prefix := strings.HasSuffix(p.Prefix, "/") && strings.Trim(p.Prefix, "/") != ""
	if p.Bucket == "" || (p.Key != "") == (p.Prefix != "") || p.Prefix != "" && !prefix {
		return ErrBadPlace
	}
	return nil
}
