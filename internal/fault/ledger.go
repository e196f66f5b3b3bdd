package fault

import (
	"context"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Ledger wraps asset.Ledger.
type Ledger struct {
	inner   asset.Ledger
	process *Process
}

// NewLedger makes the ledger as the process sees it.
func NewLedger(p *Process, inner asset.Ledger) *Ledger { return &Ledger{inner, p} }

func ledgerCall(method string, items int, first asset.LedgerKey) Call {
	return Call{Port: "ledger", Method: method, Items: items, About: first.Asset + " " + first.Part}
}

// Open wraps the writing of heads.
func (l *Ledger) Open(ctx context.Context, heads []asset.Head) ([]asset.Entry, []error) {
	entries := make([]asset.Entry, len(heads))
	if len(heads) == 0 {
		return l.inner.Open(ctx, heads)
	}
	errs := l.process.each(ctx, ledgerCall("Open", len(heads), heads[0].Key), func(ctx context.Context, items int) []error {
		seen, errs := l.inner.Open(ctx, heads[:items])
		copy(entries, seen)
		return errs
	})
	return entries, errs
}

// Page wraps the writing of one further inventory.
func (l *Ledger) Page(ctx context.Context, key asset.LedgerKey, number int, inventory asset.Inventory) (fresh bool, err error) {
	err = l.process.do(ctx, ledgerCall("Page", 1, key), func(ctx context.Context, _ int) (err error) {
		fresh, err = l.inner.Page(ctx, key, number, inventory)
		return err
	})
	return fresh, err
}

// Done wraps the writing of ends.
func (l *Ledger) Done(ctx context.Context, records []asset.Record) ([]events.PartEvidence, []error) {
	evidence := make([]events.PartEvidence, len(records))
	if len(records) == 0 {
		return l.inner.Done(ctx, records)
	}
	errs := l.process.each(ctx, ledgerCall("Done", len(records), records[0].Key), func(ctx context.Context, items int) []error {
		stands, errs := l.inner.Done(ctx, records[:items])
		copy(evidence, stands)
		return errs
	})
	return evidence, errs
}

// Totals wraps the reading.
func (l *Ledger) Totals(ctx context.Context, key asset.LedgerKey) (total asset.Inventory, err error) {
	err = l.process.do(ctx, ledgerCall("Totals", 1, key), func(ctx context.Context, _ int) (err error) {
		total, err = l.inner.Totals(ctx, key)
		return err
	})
	return total, err
}
