package mongo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// record is one record of the ledger as it is stored: the head of an erasure, a further page, or its end. Exactly one of
// Inventory and Evidence is set. Deletion, Asset and Part are there for people; only the id is looked up.
type record struct {
	ID         string     `bson:"_id"`
	Deletion   string     `bson:"deletion"`
	Asset      string     `bson:"asset"`
	Part       string     `bson:"part"`
	Generation string     `bson:"generation,omitempty"`
	At         time.Time  `bson:"at,omitempty"`
	Inventory  *inventory `bson:"inventory,omitempty"`
	Evidence   *evidence  `bson:"evidence,omitempty"`
}

type inventory struct {
	Documents int64     `bson:"documents"`
	Objects   int64     `bson:"objects"`
	Bytes     int64     `bson:"bytes"`
	Hash      string    `bson:"hash"`
	At        time.Time `bson:"at,omitempty"`
	Versions  []version `bson:"versions,omitempty"`
}

type version struct {
	Key      string    `bson:"key"`
	ID       string    `bson:"id"`
	Bytes    int64     `bson:"bytes"`
	Marker   bool      `bson:"marker,omitempty"`
	Upload   bool      `bson:"upload,omitempty"`
	Modified time.Time `bson:"modified,omitempty"`

	GovernanceBypass bool `bson:"-"` // the policy's, not the version's
}

type evidence struct {
	Part         string    `bson:"part"`
	Generation   string    `bson:"generation"`
	Documents    int64     `bson:"documents"`
	Objects      int64     `bson:"objects"`
	Bytes        int64     `bson:"bytes"`
	Attempts     int       `bson:"attempts"`
	SeenAbsentAt time.Time `bson:"seen_absent_at"`
}

// newRecord fills in what all records of an erasure have in common.
func newRecord(id string, key asset.LedgerKey) record {
	return record{ID: id, Deletion: key.Deletion, Asset: key.Asset, Part: key.Part}
}

func headRecord(h asset.Head) record {
	r := pageRecord(h.Key, 1, h.Inventory)
	r.Generation, r.At = h.Generation, h.At
	return r
}

func pageRecord(key asset.LedgerKey, number int, i asset.Inventory) record {
	r := newRecord(inventoryID(key, number), key)
	r.Inventory = &inventory{Documents: i.Documents, Objects: i.Objects, Bytes: i.Bytes, Hash: i.Hash, At: i.At}
	for _, v := range i.Versions {
		r.Inventory.Versions = append(r.Inventory.Versions, version(v))
	}
	return r
}

func doneRecord(c asset.Record) record {
	r := newRecord(doneID(c.Key), c.Key)
	e := evidence(c.Evidence)
	r.Evidence = &e
	return r
}

func (r *record) evidence() events.PartEvidence { return events.PartEvidence(*r.Evidence) }

func (i *inventory) versions() []asset.Version {
	var out []asset.Version
	for _, v := range i.Versions {
		out = append(out, asset.Version(v))
	}
	return out
}

// inventoryID is the id of the inventory with this number: the head is 1.
func inventoryID(key asset.LedgerKey, number int) string {
	if number == 1 {
		return recordID(key, "h")
	}
	return recordID(key, fmt.Sprint("p", number))
}

func doneID(key asset.LedgerKey) string { return recordID(key, "d") }

// recordID is short whatever the key holds, and no two keys have the same: the hash is over all of the key, each text with
// its length. The deletion's id before it (a UUIDv7) keeps records of one time together in the index.
func recordID(key asset.LedgerKey, kind string) string {
	h := sha256.New()
	for _, text := range []string{key.Deletion, key.Asset, key.Part} {
		_, _ = fmt.Fprintf(h, "%d %s", len(text), text) // a hash takes everything
	}
	deletion := strings.ToValidUTF8(key.Deletion[:min(len(key.Deletion), 36)], "")
	return deletion + "/" + hex.EncodeToString(h.Sum(nil)) + "/" + kind
}
