package receipt_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/tombstone-project/tombstone/receipt"
)

func keyOf(c byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{c}, ed25519.SeedSize))
}

func published(t *testing.T, keys ...ed25519.PrivateKey) (set jose.JSONWebKeySet) {
	t.Helper()
	for _, key := range keys {
		public, err := receipt.PublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		set.Keys = append(set.Keys, public)
	}
	return set
}

func sign(t *testing.T, key ed25519.PrivateKey, r receipt.Receipt) string {
	t.Helper()
	s, err := receipt.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Sign(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func example() receipt.Receipt {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return receipt.Receipt{Deletion: "0198c0de-7f00-7000-8000-000000000001", Root: "meshes/oak 🪦", Result: receipt.Unverified, Policy: "ab12",
		RequestedBy: "ann", Reason: "law <&>", RequestedAt: at, DueAt: at, CompletedAt: at.Add(time.Second),
		Assets: []receipt.Asset{{ID: "meshes/oak 🪦", Kind: "mesh", Owner: "acme", Generation: "g", Why: "requested", Parts: []receipt.Part{
			{Part: "payload", Generation: "g", Result: receipt.Verified, Objects: 3, Bytes: 99, AbsentAt: &at},
			{Part: "preview", Generation: "g", Result: receipt.Unverified, GivenUp: "the bucket burnt"},
		}}}}
}

func TestAReceiptVerifiesWithThePublishedKeys(t *testing.T) {
	text := sign(t, keyOf('a'), example())
	if again := sign(t, keyOf('a'), example()); again != text {
		t.Error("the same receipt gives another text")
	}
	encoded, err := json.Marshal(published(t, keyOf('b'), keyOf('a'))) // as it is published, an older key first
	if err != nil {
		t.Fatal(err)
	}
	keys, err := receipt.ParseKeys(encoded)
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range []string{text, text + "\n"} {
		got, err := receipt.Verify(written, keys)
		if diff := cmp.Diff(example(), got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if bytes.Contains(encoded, []byte(`"d"`)) {
		t.Error("the private half is published")
	}
}

func TestWhatIsNotOursDoesNotVerify(t *testing.T) {
	text := sign(t, keyOf('a'), example())
	parts := strings.Split(text, ".")
	flip := func(i int) string {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 1
		changed := append([]string{}, parts...)
		changed[i] = base64.RawURLEncoding.EncodeToString(raw)
		return strings.Join(changed, ".")
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"tombstone-receipt"}`))
	cases := map[string]struct {
		text string
		keys jose.JSONWebKeySet
	}{
		"another payload":           {flip(1), published(t, keyOf('a'))},
		"another signature":         {flip(2), published(t, keyOf('a'))},
		"a key that is not there":   {text, published(t, keyOf('b'))},
		"no keys":                   {text, jose.JSONWebKeySet{}},
		"nothing":                   {"", published(t, keyOf('a'))},
		"no signature":              {none + "." + parts[1] + ".", published(t, keyOf('a'))},
		"something signed, another": {otherStatement(t), published(t, keyOf('a'))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if r, err := receipt.Verify(c.text, c.keys); !errors.Is(err, receipt.ErrNotVerified) || r.Deletion != "" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// otherStatement is a JWS of the same key that is no receipt.
func otherStatement(t *testing.T) string {
	t.Helper()
	key := jose.JSONWebKey{Key: keyOf('a'), KeyID: published(t, keyOf('a')).Keys[0].KeyID}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(`{"deletion":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
