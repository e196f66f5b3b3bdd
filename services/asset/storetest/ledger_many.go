package storetest

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

func ledgerKeys(l ledger) {
	keys := []asset.LedgerKey{
		{Deletion: l.deletion, Asset: "a", Part: "b/c"}, {Deletion: l.deletion, Asset: "a/b", Part: "c"},
		{Deletion: l.deletion + "/a", Asset: "b", Part: "c"}, {Deletion: l.deletion, Asset: "a", Part: "b"},
		{Deletion: l.deletion, Asset: "", Part: "a"}, {Deletion: l.deletion, Asset: "a.b", Part: "c"},
		{Deletion: l.deletion, Asset: "a", Part: "b.c"}, {Deletion: l.deletion, Asset: "a", Part: "b:c"},
		{Deletion: l.deletion, Asset: "a:b", Part: "c"}, {Deletion: l.deletion, Asset: `{"a":"b"}`, Part: "c"},
	}
	for _, name := range names {
		keys = append(keys, asset.LedgerKey{Deletion: l.deletion, Asset: name, Part: "names"})
	}
	var heads []asset.Head
	for i, key := range keys {
		heads = append(heads, head(key, int64(i)))
	}
	l.open(heads...)
	for i, key := range keys {
		l.sums(key, asset.Inventory{Documents: 1, Objects: int64(i), Bytes: 100 * int64(i)})
	}
	l.done(asset.Record{Key: keys[0], Evidence: proof(1)})
	for i, entry := range l.open(heads...) {
		same(l.t, "done", entry.Done, i == 0)
	}
}

func ledgerMany(l ledger) {
	const n = 1100
	var heads []asset.Head
	var want []asset.Entry
	for i := range n {
		key := l.key("p")
		key.Asset = string(rune('a'+i%26)) + unique(l.t, "")
		heads, want = append(heads, head(key, int64(i))), append(want, asset.Entry{Fresh: true, Pages: 1})
	}
	l.open(heads[10:20]...)
	for i := 10; i < 20; i++ {
		want[i].Fresh = false
	}
	_, err := l.Page(l.ctx, heads[15].Key, 2, counted(1))
	ok(l.t, "page", err)
	l.done(asset.Record{Key: heads[16].Key, Evidence: proof(16)})
	want[15].Pages = 2
	want[16].Done, want[16].Evidence = true, proof(16)
	heads, want = append(heads, heads[0], heads[16], heads[n-1]), append(want, asset.Entry{Pages: 1}, want[16], asset.Entry{Pages: 1})
	same(l.t, "entries", l.open(heads...), want)

	var records []asset.Record
	var evidence []events.PartEvidence
	for i, h := range heads {
		records = append(records, asset.Record{Key: h.Key, Evidence: proof(int64(i))})
		evidence = append(evidence, records[i].Evidence)
	}
	evidence[n], evidence[n+1], evidence[n+2] = evidence[0], evidence[16], evidence[n-1]
	same(l.t, "evidence", l.done(records...), evidence)
}

func ledgerOpenRace(l ledger) {
	const n = 16
	entries := make([]asset.Entry, n)
	ok(l.t, "open", together(n, func(i int) error {
		found, errs := l.Open(l.ctx, []asset.Head{head(l.key("p"), int64(i+1)), head(l.key("q"), int64(i+1))})
		entries[i] = found[0]
		return errs[0]
	})...)
	fresh := 0
	for _, entry := range entries {
		if entry.Fresh {
			fresh++
		}
		entry.Fresh = false
		same(l.t, "entry", entry, asset.Entry{Pages: 1})
	}
	same(l.t, "heads written", fresh, 1)
	for _, part := range []string{"p", "q"} {
		total, err := l.Totals(l.ctx, l.key(part))
		ok(l.t, "totals", err)
		if total.Objects < 1 || total.Objects > n || total.Documents != 1 {
			l.t.Errorf("totals %+v, want those of one of the %d heads", total, n)
		}
	}
}

func ledgerDoneRace(l ledger) {
	const n = 16
	l.open(head(l.key("p"), 1))
	stands := make([]events.PartEvidence, n)
	ok(l.t, "done", together(n, func(i int) error {
		found, errs := l.Done(l.ctx, []asset.Record{{Key: l.key("p"), Evidence: proof(int64(i + 1))}})
		stands[i] = found[0]
		return errs[0]
	})...)
	for _, evidence := range stands {
		same(l.t, "evidence", evidence, stands[0])
	}
	same(l.t, "evidence is one of those given", stands[0], proof(stands[0].Objects))
}

func ledgerCancelled(l ledger) {
	ctx, cancel := context.WithCancel(l.ctx)
	cancel()
	if _, errs := l.Open(ctx, []asset.Head{head(l.key("p"), 1)}); len(errs) != 1 || errs[0] == nil {
		l.t.Errorf("open: %v, want an error", errs)
	}
	if _, errs := l.Done(ctx, []asset.Record{{Key: l.key("p"), Evidence: proof(1)}}); len(errs) != 1 || errs[0] == nil {
		l.t.Errorf("done: %v, want an error", errs)
	}
	if _, err := l.Page(ctx, l.key("p"), 2, counted(1)); err == nil {
		l.t.Error("page: no error")
	}
	same(l.t, "entry", l.open(head(l.key("p"), 2)), []asset.Entry{{Fresh: true, Pages: 1}})
	l.sums(l.key("p"), asset.Inventory{Documents: 1, Objects: 2, Bytes: 200})
}
