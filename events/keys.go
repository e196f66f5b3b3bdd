package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// HeaderSignature is the header of a message that holds its signature.
const HeaderSignature = "Tombstone-Signature"

// minKey is the shortest key, in bytes: as long as what HMAC-SHA256 gives.
const minKey = 32

// Keys are what the two services share, so that each knows the other's messages from those of anybody else on the broker:
// the first key signs, and each verifies, so that a new key can be brought in while the old one is still in use. No keys:
// nothing is signed, and everything is believed. A copy of a signed message verifies too; that it does no harm is the
// matter of generations and deletion ids.
type Keys []string

// ParseKeys reads keys with white space between them, the one that signs first.
func ParseKeys(text string) (Keys, error) {
	keys := Keys(strings.Fields(text))
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	for i, key := range keys {
		if len(key) < minKey {
			return nil, fmt.Errorf("key %d has %d characters: write at least %d, as `openssl rand -hex 32` makes them", i+1, len(key), minKey)
		}
	}
	return keys, nil
}

// String hides the keys.
func (k Keys) String() string { return fmt.Sprintf("%d keys", len(k)) }

// GoString hides them from %#v.
func (k Keys) GoString() string { return k.String() }

// Sign gives the signature of a text of several parts: what kind of text it is, and what it says. Empty without keys.
func (k Keys) Sign(kind string, parts ...[]byte) string {
	if len(k) == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(sum(k[0], kind, parts))
}

// Verify tells whether somebody who has one of the keys has signed the same; always so without keys.
func (k Keys) Verify(signature, kind string, parts ...[]byte) bool {
	if len(k) == 0 {
		return true
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil {
		return false
	}
	for _, key := range k {
		if hmac.Equal(given, sum(key, kind, parts)) {
			return true
		}
	}
	return false
}

// sum is the HMAC-SHA256 of the kind and all parts, each behind its length, so that none runs into the next.
func sum(key, kind string, parts [][]byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, part := range append([][]byte{[]byte(kind)}, parts...) {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)
}
