package sqlite

import (
	"context"
	"fmt"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Usage reads counters.
func (t *tx) Usage(ctx context.Context, owners []string) (map[string]dependency.Usage, error) {
	type row struct {
		owner string
		dependency.Usage
	}
	found, err := rows(ctx, t, func(r *row) []any { return []any{&r.owner, &r.Assets, &r.Bytes, &r.Pending} },
		"SELECT owner, assets, bytes, pending FROM usage WHERE owner IN (SELECT value FROM json_each(?))", list(owners))
	byOwner := make(map[string]dependency.Usage, len(found))
	for _, r := range found {
		byOwner[r.owner] = r.Usage
	}
	return byOwner, err
}

const addUsage = `INSERT INTO usage (owner, assets, bytes, pending) VALUES (?, ?, ?, ?)
ON CONFLICT (owner) DO UPDATE SET assets = assets + excluded.assets, bytes = bytes + excluded.bytes, pending = pending + excluded.pending`

// AddUsage adds to counters.
func (t *tx) AddUsage(ctx context.Context, deltas map[string]dependency.Usage) error {
	for owner, u := range deltas {
		if _, err := t.change(ctx, addUsage, owner, u.Assets, u.Bytes, u.Pending); err != nil {
			return err
		}
	}
	return nil
}

var keys = table[dependency.Key]{
	name: "keys", key: 2,
	columns: []string{"subject", "key", "request", "deletion"},
	bind:    func(k *dependency.Key) []any { return []any{&k.Subject, &k.Key, &k.Request, &k.Deletion} },
}

// Keys looks keys up one by one, in their order.
func (t *tx) Keys(ctx context.Context, asked []dependency.Key) ([]dependency.Key, error) {
	answers := make([]dependency.Key, 0, len(asked))
	for _, k := range asked {
		found, err := keys.find(ctx, t, "WHERE subject = ? AND key = ?", k.Subject, k.Key)
		if err != nil {
			return nil, err
		}
		answers = append(answers, append(found, dependency.Key{Subject: k.Subject, Key: k.Key})[0])
	}
	return answers, nil
}

// SaveKeys adds keys.
func (t *tx) SaveKeys(ctx context.Context, added []dependency.Key) error {
	return keys.insert(ctx, t, added)
}

// Places reads who holds what.
func (t *tx) Places(ctx context.Context, places []string) (map[string]string, error) {
	type row struct{ place, asset string }
	found, err := rows(ctx, t, func(r *row) []any { return []any{&r.place, &r.asset} },
		"SELECT place, asset FROM places WHERE place IN (SELECT value FROM json_each(?))", list(places))
	holders := make(map[string]string, len(found))
	for _, r := range found {
		holders[r.place] = r.asset
	}
	return holders, err
}

const savePlace = `INSERT INTO places (place, asset) VALUES (?, ?)
ON CONFLICT (place) DO UPDATE SET asset = excluded.asset WHERE asset = excluded.asset`

// SavePlaces gives places away; one that another asset holds is an error, because callers look first.
func (t *tx) SavePlaces(ctx context.Context, holders map[string]string) error {
	for place, asset := range holders {
		n, err := t.change(ctx, savePlace, place, asset)
		if err != nil {
			return err
		}
		if n == 0 {
			return t.call(func() error { return fmt.Errorf("save place %q: another asset holds it", place) })
		}
	}
	return nil
}

// ReleasePlaces takes all places of the assets back.
func (t *tx) ReleasePlaces(ctx context.Context, assets []string) error {
	_, err := t.change(ctx, "DELETE FROM places WHERE asset IN (SELECT value FROM json_each(?))", list(assets))
	return err
}

// Setting reads a value.
func (t *tx) Setting(ctx context.Context, name string) (string, error) {
	found, err := rows(ctx, t, func(value *string) []any { return []any{value} }, "SELECT value FROM settings WHERE name = ?", name)
	return append(found, "")[0], err
}

// SaveSetting writes a value.
func (t *tx) SaveSetting(ctx context.Context, name, value string) error {
	_, err := t.change(ctx, "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
	return err
}

// Forget removes the trails of assets, and deletions with their erasures.
func (t *tx) Forget(ctx context.Context, assets, deletions []string) error {
	for _, remove := range []struct {
		statement string
		ids       []string
	}{
		{"DELETE FROM entries WHERE asset IN (SELECT value FROM json_each(?))", assets},
		{"DELETE FROM erasures WHERE deletion IN (SELECT value FROM json_each(?))", deletions},
		{"DELETE FROM deletions WHERE id IN (SELECT value FROM json_each(?))", deletions},
	} {
		if _, err := t.change(ctx, remove.statement, list(remove.ids)); err != nil {
			return err
		}
	}
	return nil
}
