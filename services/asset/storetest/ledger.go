package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// ledger is one subtest's ledger with a deletion of its own.
type ledger struct {
	asset.Ledger
	t        *testing.T
	ctx      context.Context
	deletion string
}

// TestLedger checks the contract of asset.Ledger. open is called once; every subtest uses a deletion of its own.
func TestLedger(t *testing.T, open func(t *testing.T) asset.Ledger) {
	store := open(t)
	run := func(name string, test func(l ledger)) {
		t.Run(name, func(t *testing.T) { test(ledger{store, t, t.Context(), unique(t, "d-")}) })
	}
	run("a head is written once, and the first one stands", ledgerHead)
	run("pages are numbered from 2 and stay as they are", ledgerPages)
	run("done is written once, and what stands is given back", ledgerDone)
	run("totals add up, with the versions of the last inventory", ledgerTotals)
	run("an erasure nobody opened has no totals, and can be done", ledgerUnopened)
	run("keys are taken apart literally", ledgerKeys)
	run("one call answers for new, open, done and doubled heads in order", ledgerMany)
	run("of many that open one erasure at once, one wins", ledgerOpenRace)
	run("of many that end one erasure at once, one wins", ledgerDoneRace)
	run("a cancelled call fails and writes nothing", ledgerCancelled)
}

// when is in whole milliseconds: stores keep no finer times.
var when = time.Date(2026, 3, 4, 5, 6, 7, 891_000_000, time.UTC)

func (l ledger) key(part string) asset.LedgerKey {
	return asset.LedgerKey{Deletion: l.deletion, Asset: "a", Part: part}
}

func head(key asset.LedgerKey, objects int64) asset.Head {
	return asset.Head{Key: key, Generation: older, Inventory: counted(objects), At: when}
}

// counted is an inventory that can be told from others by its number of objects.
func counted(objects int64) asset.Inventory {
	return asset.Inventory{Documents: 1, Objects: objects, Bytes: 100 * objects, Hash: fmt.Sprint("hash ", objects)}
}

// proof is evidence that can be told from others by its number of objects.
func proof(objects int64) events.PartEvidence {
	return events.PartEvidence{Part: "p", Generation: older, Documents: 1, Objects: objects, Bytes: 1 << 40, Attempts: 3,
		SeenAbsentAt: when.Add(time.Duration(objects) * time.Second)}
}

// open opens and fails the test on an error.
func (l ledger) open(heads ...asset.Head) []asset.Entry {
	l.t.Helper()
	entries, errs := l.Open(l.ctx, heads)
	ok(l.t, "open", errs...)
	if len(entries) != len(heads) {
		l.t.Fatalf("open: %d entries for %d heads", len(entries), len(heads))
	}
	return entries
}

// page adds an inventory to the erasure of p and fails the test on an error.
func (l ledger) page(number int, inventory asset.Inventory) (fresh bool) {
	l.t.Helper()
	fresh, err := l.Page(l.ctx, l.key("p"), number, inventory)
	ok(l.t, "page", err)
	return fresh
}

// done closes and fails the test on an error.
func (l ledger) done(records ...asset.Record) []events.PartEvidence {
	l.t.Helper()
	evidence, errs := l.Done(l.ctx, records)
	ok(l.t, "done", errs...)
	if len(evidence) != len(records) {
		l.t.Fatalf("done: %d answers for %d records", len(evidence), len(records))
	}
	return evidence
}

// sums fails the test when the totals of an erasure are others.
func (l ledger) sums(key asset.LedgerKey, want asset.Inventory) {
	l.t.Helper()
	got, err := l.Totals(l.ctx, key)
	ok(l.t, "totals", err)
	same(l.t, "totals", got, want)
}

func ledgerHead(l ledger) {
	same(l.t, "first", l.open(head(l.key("p"), 5)), []asset.Entry{{Fresh: true, Pages: 1}})
	same(l.t, "repeat", l.open(head(l.key("p"), 7)), []asset.Entry{{Pages: 1}})
	l.sums(l.key("p"), asset.Inventory{Documents: 1, Objects: 5, Bytes: 500})
	same(l.t, "empty call", l.open(), []asset.Entry{})
}

func ledgerPages(l ledger) {
	l.open(head(l.key("p"), 1))
	for number := 2; number <= 12; number++ {
		same(l.t, "page is fresh", l.page(number, asset.Inventory{Objects: 10}), true)
	}
	same(l.t, "page 3 is fresh again", l.page(3, asset.Inventory{Objects: 1000}), false)
	same(l.t, "entry", l.open(head(l.key("p"), 1)), []asset.Entry{{Pages: 12}})
	l.sums(l.key("p"), asset.Inventory{Documents: 1, Objects: 111, Bytes: 100})
}

func ledgerDone(l ledger) {
	l.open(head(l.key("p"), 5))
	first, second := proof(5), proof(6)
	same(l.t, "first", l.done(asset.Record{Key: l.key("p"), Evidence: first}), []events.PartEvidence{first})
	same(l.t, "second", l.done(asset.Record{Key: l.key("p"), Evidence: second}), []events.PartEvidence{first})
	same(l.t, "entry", l.open(head(l.key("p"), 9)), []asset.Entry{{Done: true, Evidence: first, Pages: 1}})
	same(l.t, "empty call", l.done(), []events.PartEvidence{})
}

func ledgerTotals(l ledger) {
	versions := func(page string) []asset.Version {
		return []asset.Version{
			{Key: page + "/\u00e9 +%\x01", ID: "v1", Bytes: 1 << 33},
			{Key: page, ID: "null", Marker: true},
			{Key: page, ID: "u", Upload: true},
		}
	}
	first, second := counted(3), counted(4)
	first.Versions, second.Versions = versions("one"), versions("two")
	first.At, second.At = when, when.Add(time.Minute)
	opened := head(l.key("p"), 0)
	opened.Inventory = first
	l.open(opened)
	l.sums(l.key("p"), asset.Inventory{Documents: 1, Objects: 3, Bytes: 300, Versions: first.Versions, At: first.At})
	l.page(2, second)
	l.sums(l.key("p"), asset.Inventory{Documents: 2, Objects: 7, Bytes: 700, Versions: second.Versions, At: second.At})
	l.page(3, counted(5))
	l.sums(l.key("p"), asset.Inventory{Documents: 3, Objects: 12, Bytes: 1200})
}

func ledgerUnopened(l ledger) {
	l.sums(l.key("p"), asset.Inventory{})
	evidence := proof(2)
	same(l.t, "done", l.done(asset.Record{Key: l.key("p"), Evidence: evidence}), []events.PartEvidence{evidence})
	same(l.t, "done again", l.done(asset.Record{Key: l.key("p"), Evidence: proof(3)}), []events.PartEvidence{evidence})
}
