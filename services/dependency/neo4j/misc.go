package neo4j

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Usage reads owners' counters. An owner that was only locked has none.
func (t *tx) Usage(ctx context.Context, owners []string) (map[string]dependency.Usage, error) {
	found := map[string]dependency.Usage{}
	if len(owners) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read usage",
		"UNWIND $owners AS owner MATCH (o:OwnerUsage {owner: owner}) USING INDEX SEEK o:OwnerUsage(owner) WHERE o.assets IS NOT NULL RETURN owner, o.assets, o.bytes, o.pending", params{"owners": inOrder(owners)})
	for _, r := range records {
		found[word(r, 0)] = dependency.Usage{Assets: number(r, 1), Bytes: number(r, 2), Pending: number(r, 3)}
	}
	return found, err
}

// AddUsage adds to owners' counters. The lock comes first, so that no other transaction's sum is lost.
func (t *tx) AddUsage(ctx context.Context, deltas map[string]dependency.Usage) error {
	var rows []params
	for _, owner := range slices.Sorted(maps.Keys(deltas)) {
		d := deltas[owner]
		rows = append(rows, params{"owner": owner, "assets": d.Assets, "bytes": d.Bytes, "pending": d.Pending})
	}
	return t.writeRows(ctx, "add usage", `
		UNWIND $rows AS row
		MERGE (o:OwnerUsage {owner: row.owner})
		SET o.locked = true REMOVE o.locked
		SET o.assets = coalesce(o.assets, 0) + row.assets, o.bytes = coalesce(o.bytes, 0) + row.bytes,
			o.pending = coalesce(o.pending, 0) + row.pending`, rows)
}

// Keys looks remembered keys up.
func (t *tx) Keys(ctx context.Context, keys []dependency.Key) ([]dependency.Key, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	list := make([][]string, len(keys))
	for i, k := range keys {
		list[i] = []string{k.Subject, k.Key}
	}
	records, err := t.read(ctx, "read idempotency keys", `
		UNWIND range(0, size($keys) - 1) AS i
		MATCH (k:IdempotencyKey {subject: $keys[i][0], key: $keys[i][1]}) USING INDEX SEEK k:IdempotencyKey(subject, key)
		RETURN i, k.request, k.deletion`, params{"keys": list})
	if err != nil {
		return nil, err
	}
	found := make([]dependency.Key, len(keys))
	for i, k := range keys {
		found[i] = dependency.Key{Subject: k.Subject, Key: k.Key}
	}
	for _, r := range records {
		k := &found[number(r, 0)]
		k.Request, k.Deletion = word(r, 1), word(r, 2)
	}
	return found, nil
}

// SaveKeys remembers keys. One that exists was saved by a faster transaction.
func (t *tx) SaveKeys(ctx context.Context, keys []dependency.Key) error {
	rows := make([]params, len(keys))
	for i, k := range keys {
		rows[i] = params{"subject": k.Subject, "key": k.Key, "request": k.Request, "deletion": k.Deletion}
	}
	return t.writeRows(ctx, "save idempotency keys",
		"UNWIND $rows AS row CREATE (k:IdempotencyKey) SET k = row", rows)
}

// Places tells the holders of places.
func (t *tx) Places(ctx context.Context, places []string) (map[string]string, error) {
	found := map[string]string{}
	if len(places) == 0 {
		return found, nil
	}
	records, err := t.read(ctx, "read places",
		"UNWIND $places AS place MATCH (p:ClaimedPlace {place: place}) USING INDEX SEEK p:ClaimedPlace(place) RETURN place, p.asset", params{"places": inOrder(places)})
	for _, r := range records {
		found[word(r, 0)] = word(r, 1)
	}
	return found, err
}

// SavePlaces gives places to assets. One that has another holder by now was taken by a faster transaction.
func (t *tx) SavePlaces(ctx context.Context, holders map[string]string) error {
	if len(holders) == 0 {
		return nil
	}
	var rows []params
	for _, place := range slices.Sorted(maps.Keys(holders)) {
		rows = append(rows, params{"place": place, "asset": holders[place]})
	}
	records, err := t.read(ctx, "save places", `
		UNWIND $rows AS row
		MERGE (p:ClaimedPlace {place: row.place}) ON CREATE SET p.asset = row.asset
		WITH p, row WHERE p.asset <> row.asset
		RETURN row.place`, params{"rows": rows})
	if err == nil && len(records) > 0 {
		err = t.fail(ctx, "save places", fmt.Errorf("place %q: %w", word(records[0], 0), errRace))
	}
	return err
}

// ReleasePlaces takes their places from assets.
func (t *tx) ReleasePlaces(ctx context.Context, assets []string) error {
	if len(assets) == 0 {
		return nil
	}
	return t.write(ctx, "release places", "UNWIND $assets AS asset MATCH (p:ClaimedPlace {asset: asset}) USING INDEX SEEK p:ClaimedPlace(asset) DELETE p", params{"assets": inOrder(assets)})
}

// Setting reads a value, and remembers when there is none.
func (t *tx) Setting(ctx context.Context, name string) (string, error) {
	records, err := t.read(ctx, "read a setting", "MATCH (s:GraphSetting {name: $name}) USING INDEX SEEK s:GraphSetting(name) RETURN s.value", params{"name": name})
	if err != nil {
		return "", err
	}
	if len(records) == 0 {
		t.absent[record{"setting", name}] = true
		return "", nil
	}
	return word(records[0], 0), nil
}

// SaveSetting writes a value. As with nodes, one that this transaction has seen not to exist is created.
func (t *tx) SaveSetting(ctx context.Context, name, value string) error {
	verb, r := "MERGE", record{"setting", name}
	if t.absent[r] {
		delete(t.absent, r)
		verb = "CREATE"
	}
	return t.write(ctx, "save a setting", verb+" (s:GraphSetting {name: $name}) SET s.value = $value", params{"name": name, "value": value})
}

// Forget removes the trails of assets, and deletions with their erasures.
func (t *tx) Forget(ctx context.Context, assets, deletions []string) error {
	for _, remove := range []struct {
		what, statement string
		ids             []string
	}{
		{"forget trails", "UNWIND $ids AS id MATCH (e:AuditEntry) WHERE e.asset = id AND e.sequence > 0 DELETE e", assets},
		{"forget erasures", "UNWIND $ids AS id MATCH (e:Erasure) WHERE e.deletion = id AND e.position > -1 DETACH DELETE e", deletions},
		{"forget deletions", "UNWIND $ids AS id MATCH (d:Deletion {id: id}) USING INDEX SEEK d:Deletion(id) DETACH DELETE d", deletions},
	} {
		if len(remove.ids) == 0 {
			continue
		}
		if err := t.write(ctx, remove.what, remove.statement, params{"ids": inOrder(remove.ids)}); err != nil {
			return err
		}
	}
	return nil
}
