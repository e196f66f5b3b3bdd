package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// digest is the hex SHA-256 over the JSON of the policy: what was read, with every default in it, and maps in the order
// of their keys. So layout, comments, the order of kinds and another way to write the same value ("900s" for "15m") do
// not count; the order of parts does, as they are erased in it.
func (p *Policy) digest() string {
	whole := *p
	whole.Hash = ""
	text, err := json.Marshal(whole)
	if err != nil {
		panic("policy: a policy does not marshal: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
