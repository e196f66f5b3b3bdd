package memory

import (
	"context"
	"slices"
	"sync"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Ledger is a ledger in memory.
type Ledger struct {
	probe *Probe
	mu    sync.Mutex
	pages map[asset.LedgerKey]map[int]asset.Inventory // by number, the head is 1
	ended map[asset.LedgerKey]events.PartEvidence
}

// NewLedger makes an empty ledger that shows its calls to the probe.
func NewLedger(probe *Probe) *Ledger {
	return &Ledger{probe: probe, pages: map[asset.LedgerKey]map[int]asset.Inventory{},
		ended: map[asset.LedgerKey]events.PartEvidence{}}
}

// Open writes the heads that are not there, and tells how far each erasure is.
func (l *Ledger) Open(ctx context.Context, heads []asset.Head) ([]asset.Entry, []error) {
	entries := make([]asset.Entry, len(heads))
	err := l.probe.around(ctx, Call{Store: "ledger", Method: "Open", Size: len(heads)}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, head := range heads {
			fresh := l.insert(head.Key, 1, head.Inventory)
			evidence, done := l.ended[head.Key]
			entries[i] = asset.Entry{Fresh: fresh, Done: done, Evidence: evidence, Pages: len(l.pages[head.Key])}
		}
	})
	if err != nil {
		return make([]asset.Entry, len(heads)), fill(len(heads), err)
	}
	return entries, make([]error, len(heads))
}

// insert writes a page unless one with its number stands, and tells whether it did.
func (l *Ledger) insert(key asset.LedgerKey, number int, inventory asset.Inventory) bool {
	if l.pages[key] == nil {
		l.pages[key] = map[int]asset.Inventory{}
	}
	_, stands := l.pages[key][number]
	if !stands {
		inventory.Versions = slices.Clone(inventory.Versions)
		l.pages[key][number] = inventory
	}
	return !stands
}

// Page adds a further inventory.
func (l *Ledger) Page(ctx context.Context, key asset.LedgerKey, number int, inventory asset.Inventory) (fresh bool, err error) {
	err = l.probe.around(ctx, Call{Store: "ledger", Method: "Page", Size: 1}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		fresh = l.insert(key, number, inventory)
	})
	return fresh, err
}

// Done ends the erasures that have not ended, and gives what stands.
func (l *Ledger) Done(ctx context.Context, records []asset.Record) ([]events.PartEvidence, []error) {
	evidence := make([]events.PartEvidence, len(records))
	err := l.probe.around(ctx, Call{Store: "ledger", Method: "Done", Size: len(records)}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, record := range records {
			if _, stands := l.ended[record.Key]; !stands {
				l.ended[record.Key] = record.Evidence
			}
			evidence[i] = l.ended[record.Key]
		}
	})
	if err != nil {
		return make([]events.PartEvidence, len(records)), fill(len(records), err)
	}
	return evidence, make([]error, len(records))
}

// Totals adds up the inventories of one erasure.
func (l *Ledger) Totals(ctx context.Context, key asset.LedgerKey) (total asset.Inventory, err error) {
	err = l.probe.around(ctx, Call{Store: "ledger", Method: "Totals", Size: 1}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		last := 0
		for number, page := range l.pages[key] {
			total.Documents += page.Documents
			total.Objects += page.Objects
			total.Bytes += page.Bytes
			if number > last {
				last, total.Versions, total.At = number, slices.Clone(page.Versions), page.At
			}
		}
	})
	return total, err
}

// Lose forgets everything, as a restore from an old backup does.
func (l *Ledger) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.pages)
	clear(l.ended)
}
