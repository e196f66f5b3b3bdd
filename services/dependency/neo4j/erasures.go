package neo4j

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Erasures reads erasures by key.
func (t *tx) Erasures(ctx context.Context, keys []dependency.ErasureKey) (map[dependency.ErasureKey]dependency.Erasure, error) {
	found := map[dependency.ErasureKey]dependency.Erasure{}
	if len(keys) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read erasures",
		"UNWIND $keys AS key MATCH (e:Erasure {deletion: key[0], asset: key[1]}) USING INDEX SEEK e:Erasure(deletion, asset) RETURN e", params{"keys": pairs(keys)})
	if err != nil {
		return nil, err
	}
	list, err := decodeAll(records, decodeErasure)
	for _, e := range list {
		found[dependency.ErasureKey{Deletion: e.Deletion, Asset: e.Asset}] = e
	}
	return found, err
}

// pairs gives keys as the driver takes them.
func pairs(keys []dependency.ErasureKey) [][]string {
	list := make([][]string, len(keys))
	for i, k := range keys {
		list[i] = []string{k.Deletion, k.Asset}
	}
	return list
}

// SaveErasures writes erasures.
func (t *tx) SaveErasures(ctx context.Context, erasures []dependency.Erasure) error {
	rows := make([]params, len(erasures))
	for i, e := range erasures {
		var err error
		if rows[i], err = encodeErasure(e); err != nil {
			return err
		}
	}
	return t.writeRows(ctx, "save erasures",
		"UNWIND $rows AS row MERGE (e:Erasure {deletion: row.deletion, asset: row.asset}) SET e += row", rows)
}

// ListErasures pages through a deletion by position.
func (t *tx) ListErasures(ctx context.Context, deletion string, after, max int) ([]dependency.Erasure, error) {
	p := params{"deletion": deletion, "after": after, "limit": orAll(max)}
	records, err := t.read(ctx, "list erasures",
		"MATCH (e:Erasure) WHERE e.deletion = $deletion AND e.position > $after RETURN e ORDER BY e.deletion, e.position LIMIT $limit", p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeErasure)
}

// FirstErasures reads the beginning of deletions.
func (t *tx) FirstErasures(ctx context.Context, deletions []string, n int) (map[string][]dependency.Erasure, error) {
	found := map[string][]dependency.Erasure{}
	if len(deletions) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "list first erasures", `
		UNWIND $deletions AS id
		MATCH (e:Erasure) WHERE e.deletion = id AND e.position < $n
		RETURN e ORDER BY e.deletion, e.position`, params{"deletions": inOrder(deletions), "n": n})
	if err != nil {
		return nil, err
	}
	list, err := decodeAll(records, decodeErasure)
	for _, e := range list {
		found[e.Deletion] = append(found[e.Deletion], e)
	}
	return found, err
}

// DueErasures gives erasures to look at.
func (t *tx) DueErasures(ctx context.Context, now time.Time, done bool, max int) ([]dependency.Erasure, error) {
	p := params{"now": instant(now), "done": done, "limit": orAll(max)}
	records, err := t.read(ctx, "find due erasures",
		"MATCH (e:Erasure) WHERE e.check_at <= $now AND e.done = $done RETURN e ORDER BY e.check_at LIMIT $limit", p)
	if err != nil {
		return nil, err
	}
	return decodeAll(records, decodeErasure)
}

func encodeErasure(e dependency.Erasure) (params, error) {
	parts, err1 := object(e.Parts, len(e.Parts) == 0)
	steps, err2 := object(e.Steps, len(e.Steps) == 0)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("encode erasure: %w", err)
	}
	return params{
		"deletion": e.Deletion, "asset": e.Asset, "position": e.Position, "kind": text(e.Kind), "owner": text(e.Owner),
		"generation": text(e.Generation), "why": text(e.Why), "parts": parts, "done": e.Done, "check_at": moment(e.CheckAt),
		"rechecks": e.Rechecks, "steps": steps,
	}, nil
}

func decodeErasure(p properties) (dependency.Erasure, error) {
	e := dependency.Erasure{
		Deletion: p.text("deletion"), Asset: p.text("asset"), Position: int(p.number("position")), Kind: p.text("kind"), Owner: p.text("owner"),
		Generation: p.text("generation"), Why: p.text("why"), Done: p.truth("done"), CheckAt: p.moment("check_at"),
		Rechecks: int(p.number("rechecks")),
	}
	return e, errors.Join(p.object("parts", &e.Parts), p.object("steps", &e.Steps))
}
