package receipt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// ErrNotVerified is the error of a text that is no receipt, that was changed, or that none of the keys has signed.
var ErrNotVerified = errors.New("this receipt does not verify")

// Verify reads a compact JWS and gives what it says, if one of the keys has signed it. It asks nobody.
func Verify(text string, keys jose.JSONWebKeySet) (Receipt, error) {
	signed, err := jose.ParseSignedCompact(strings.TrimSpace(text), []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return Receipt{}, fmt.Errorf("%w: it is no compact JWS signed with EdDSA: %w", ErrNotVerified, err)
	}
	header := signed.Signatures[0].Protected
	if header.ExtraHeaders[jose.HeaderType] != typ {
		return Receipt{}, fmt.Errorf("%w: it is signed, but it is no receipt (typ is %v)", ErrNotVerified, header.ExtraHeaders[jose.HeaderType])
	}
	named := keys.Key(header.KeyID)
	if len(named) == 0 {
		return Receipt{}, fmt.Errorf("%w: the keys hold none named %q", ErrNotVerified, header.KeyID)
	}
	for _, key := range named {
		payload, err := signed.Verify(key)
		if err != nil {
			continue
		}
		var r Receipt
		if err := json.Unmarshal(payload, &r); err != nil {
			return Receipt{}, fmt.Errorf("%w: what was signed cannot be read: %w", ErrNotVerified, err)
		}
		return r, nil
	}
	return Receipt{}, fmt.Errorf("%w: the signature is not that of key %q", ErrNotVerified, header.KeyID)
}

// ParseKeys reads a JWK Set, as /.well-known/jwks.json gives it.
func ParseKeys(text []byte) (jose.JSONWebKeySet, error) {
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(text, &keys); err != nil {
		return keys, fmt.Errorf("read keys: this is no JWK Set, as /.well-known/jwks.json gives it: %w", err)
	}
	return keys, nil
}
