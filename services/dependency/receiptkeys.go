package dependency

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/go-jose/go-jose/v4"

	"github.com/tombstone-project/tombstone/receipt"
)

const (
	// settingReceiptKey is the seed, in base64, of the key that signs where none is configured.
	settingReceiptKey = "receipt_key"
	// settingReceiptKeys is the JWK Set of all keys that ever signed, so that a receipt verifies after its key was replaced.
	settingReceiptKeys = "receipt_keys"
	// settingReceiptTurn is written before the keys are read: whoever did so first goes first.
	settingReceiptTurn = "receipt_keys_turn"
)

// receiptKeys finds the key that signs receipts, and publishes its public half before it signs anything.
type receiptKeys struct {
	graph      Graph
	configured ed25519.PrivateKey // nil: one is made and kept with the graph

	mu   sync.Mutex
	made *receipt.Signer
}

// ReceiptKeys gives the JWK Set that receipts verify with.
func (s *Service) ReceiptKeys(ctx context.Context) (jose.JSONWebKeySet, error) {
	var keys jose.JSONWebKeySet
	if _, err := s.receiptKeys.signer(ctx); err != nil {
		return keys, err
	}
	err := s.graph.View(ctx, func(tx Tx) (err error) {
		keys, err = publishedKeys(ctx, tx)
		return err
	})
	return keys, err
}

// signer gives the signer of the key, which it looks for once.
func (k *receiptKeys) signer(ctx context.Context) (*receipt.Signer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made != nil {
		return k.made, nil
	}
	var key ed25519.PrivateKey
	err := k.graph.Update(ctx, func(tx Tx) (err error) {
		if err := tx.SaveSetting(ctx, settingReceiptTurn, "taken"); err != nil {
			return err
		}
		if key = k.configured; key == nil {
			if key, err = keptKey(ctx, tx); err != nil {
				return err
			}
		}
		return publish(ctx, tx, key)
	})
	if err != nil {
		return nil, err
	}
	k.made, err = receipt.NewSigner(key)
	return k.made, err
}

// keptKey gives the key that is kept with the graph, and makes it when there is none.
func keptKey(ctx context.Context, tx Tx) (ed25519.PrivateKey, error) {
	text, err := tx.Setting(ctx, settingReceiptKey)
	if err != nil {
		return nil, err
	}
	if text != "" {
		seed, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(seed) != ed25519.SeedSize {
			return nil, fmt.Errorf("the receipt key that is kept with the graph cannot be read; set TOMBSTONE_RECEIPT_KEY instead")
		}
		return ed25519.NewKeyFromSeed(seed), nil
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("make a receipt key: %w", err)
	}
	return key, tx.SaveSetting(ctx, settingReceiptKey, base64.StdEncoding.EncodeToString(key.Seed()))
}

// publish adds the public half of a key to the keys that are published, unless it is there.
func publish(ctx context.Context, tx Tx, key ed25519.PrivateKey) error {
	public, err := receipt.PublicKey(key)
	if err != nil {
		return err
	}
	keys, err := publishedKeys(ctx, tx)
	if err != nil || slices.ContainsFunc(keys.Keys, func(k jose.JSONWebKey) bool { return k.KeyID == public.KeyID }) {
		return err
	}
	keys.Keys = append(keys.Keys, public)
	text, err := json.Marshal(keys)
	if err != nil {
		return fmt.Errorf("encode receipt keys: %w", err)
	}
	return tx.SaveSetting(ctx, settingReceiptKeys, string(text))
}

func publishedKeys(ctx context.Context, tx Tx) (keys jose.JSONWebKeySet, err error) {
	text, err := tx.Setting(ctx, settingReceiptKeys)
	if err != nil || text == "" {
		return keys, err
	}
	if keys, err = receipt.ParseKeys([]byte(text)); err != nil {
		return keys, fmt.Errorf("of the graph: %w", err)
	}
	return keys, nil
}
