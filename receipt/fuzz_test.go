package receipt_test

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/tombstone-project/tombstone/receipt"
)

// No text but what was signed verifies.
func FuzzVerify(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer, err := receipt.NewSigner(key)
	if err != nil {
		f.Fatal(err)
	}
	public, err := receipt.PublicKey(key)
	if err != nil {
		f.Fatal(err)
	}
	genuine, err := signer.Sign(receipt.Receipt{Deletion: "d"})
	if err != nil {
		f.Fatal(err)
	}
	keys := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}}
	if r, err := receipt.Verify(genuine, keys); err != nil || r.Deletion != "d" {
		f.Fatalf("%+v, %v", r, err)
	}
	f.Add(genuine + "x")
	f.Add(genuine[1:])
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("..")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := receipt.Verify(text, keys)
		if err == nil && r.Deletion != "d" || err != nil && !errors.Is(err, receipt.ErrNotVerified) {
			t.Fatalf("%q: %+v, %v", text, r, err)
		}
	})
}
