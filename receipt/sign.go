package receipt

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// typ stands in the header of each receipt, so that no other statement signed with the same key passes for one.
const typ = "tombstone-receipt"

// Signer signs receipts with one key. The same receipt always gives the same text.
type Signer struct{ signer jose.Signer }

// NewSigner makes a signer.
func NewSigner(key ed25519.PrivateKey) (*Signer, error) {
	public, err := PublicKey(key)
	if err != nil {
		return nil, err
	}
	private := jose.JSONWebKey{Key: key, KeyID: public.KeyID}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithType(typ))
	if err != nil {
		return nil, fmt.Errorf("make a signer: %w", err)
	}
	return &Signer{s}, nil
}

// Sign gives the compact JWS.
func (s *Signer) Sign(r Receipt) (string, error) {
	payload, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode receipt: %w", err)
	}
	signed, err := s.signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign receipt: %w", err)
	}
	return signed.CompactSerialize()
}

// PublicKey is the public half as it is published, named by its thumbprint (RFC 7638).
func PublicKey(key ed25519.PrivateKey) (jose.JSONWebKey, error) {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok || len(key) != ed25519.PrivateKeySize {
		return jose.JSONWebKey{}, errors.New("this is no Ed25519 key")
	}
	jwk := jose.JSONWebKey{Key: public, Algorithm: string(jose.EdDSA), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("name the key: %w", err)
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return jwk, nil
}
