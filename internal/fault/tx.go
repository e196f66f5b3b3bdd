package fault

import (
	"context"
	"time"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// tx wraps the calls of a transaction. Each can fail, and with it the transaction; every other fault is one of the
// transaction itself. A call that carries nothing sends nothing, and so cannot fail.
type tx struct {
	dependency.Tx
	process *Process
	about   string // the transaction
	failed  error  // the first error, which fails the whole
}

// run carries out one call of so many items, unless one failed before.
func (t *tx) run(method string, items int, call func() error) error {
	switch {
	case t.failed != nil:
	case items == 0:
		return call()
	case t.process.script.Next(Call{Process: t.process.name, Port: "tx", Method: method, Items: 1, About: t.about}) == ErrorBefore:
		t.failed = unavailable(ErrLost)
	case t.process.hasEnded():
		t.failed = unavailable(ErrCrashed)
	default:
		t.failed = call()
	}
	return t.failed
}

// read is run for a call with an answer.
func read[R any](t *tx, method string, items int, call func() (R, error)) (answer R, err error) {
	err = t.run(method, items, func() (err error) {
		answer, err = call()
		return err
	})
	if err != nil {
		var none R
		return none, err
	}
	return answer, nil
}

func (t *tx) Lock(ctx context.Context, l dependency.Locks) error {
	return t.run("Lock", len(l.Assets)+len(l.Owners)+len(l.Deletions), func() error { return t.Tx.Lock(ctx, l) })
}

func (t *tx) Nodes(ctx context.Context, ids []string) (map[string]dependency.Node, error) {
	return read(t, "Nodes", len(ids), func() (map[string]dependency.Node, error) { return t.Tx.Nodes(ctx, ids) })
}

func (t *tx) SaveNodes(ctx context.Context, nodes []dependency.Node) error {
	return t.run("SaveNodes", len(nodes), func() error { return t.Tx.SaveNodes(ctx, nodes) })
}

func (t *tx) RemoveNodes(ctx context.Context, ids []string) error {
	return t.run("RemoveNodes", len(ids), func() error { return t.Tx.RemoveNodes(ctx, ids) })
}

func (t *tx) ListNodes(ctx context.Context, f dependency.NodeFilter) ([]dependency.Node, error) {
	return read(t, "ListNodes", 1, func() ([]dependency.Node, error) { return t.Tx.ListNodes(ctx, f) })
}

func (t *tx) Outgoing(ctx context.Context, ids []string) ([]dependency.Link, error) {
	return read(t, "Outgoing", len(ids), func() ([]dependency.Link, error) { return t.Tx.Outgoing(ctx, ids) })
}

func (t *tx) Sources(ctx context.Context, targets, types []string, limit int) ([]dependency.Source, error) {
	return read(t, "Sources", len(targets), func() ([]dependency.Source, error) { return t.Tx.Sources(ctx, targets, types, limit) })
}

func (t *tx) Incoming(ctx context.Context, to string, types []string, after dependency.Link, limit int) ([]dependency.Source, error) {
	return read(t, "Incoming", 1, func() ([]dependency.Source, error) { return t.Tx.Incoming(ctx, to, types, after, limit) })
}

func (t *tx) Ahead(ctx context.Context, from, up, down []string, limit int) ([]string, error) {
	return read(t, "Ahead", len(from), func() ([]string, error) { return t.Tx.Ahead(ctx, from, up, down, limit) })
}

func (t *tx) HiddenLinks(ctx context.Context, targets []string, deletion string) ([]dependency.Link, error) {
	return read(t, "HiddenLinks", len(targets), func() ([]dependency.Link, error) { return t.Tx.HiddenLinks(ctx, targets, deletion) })
}

func (t *tx) Dependants(ctx context.Context, targets, types []string, limit int) (map[string]dependency.Dependants, error) {
	return read(t, "Dependants", len(targets), func() (map[string]dependency.Dependants, error) {
		return t.Tx.Dependants(ctx, targets, types, limit)
	})
}

func (t *tx) SaveLinks(ctx context.Context, links []dependency.Link) error {
	return t.run("SaveLinks", len(links), func() error { return t.Tx.SaveLinks(ctx, links) })
}

func (t *tx) RemoveLinks(ctx context.Context, links []dependency.Link) error {
	return t.run("RemoveLinks", len(links), func() error { return t.Tx.RemoveLinks(ctx, links) })
}

func (t *tx) Unlink(ctx context.Context, ids []string, limit int) (int, error) {
	return read(t, "Unlink", len(ids), func() (int, error) { return t.Tx.Unlink(ctx, ids, limit) })
}

func (t *tx) Deletions(ctx context.Context, ids []string) (map[string]dependency.DeletionRecord, error) {
	return read(t, "Deletions", len(ids), func() (map[string]dependency.DeletionRecord, error) { return t.Tx.Deletions(ctx, ids) })
}

func (t *tx) SaveDeletions(ctx context.Context, deletions []dependency.DeletionRecord) error {
	return t.run("SaveDeletions", len(deletions), func() error { return t.Tx.SaveDeletions(ctx, deletions) })
}

func (t *tx) ListDeletions(ctx context.Context, f dependency.DeletionFilter) ([]dependency.DeletionRecord, error) {
	return read(t, "ListDeletions", 1, func() ([]dependency.DeletionRecord, error) { return t.Tx.ListDeletions(ctx, f) })
}

func (t *tx) Erasures(ctx context.Context, keys []dependency.ErasureKey) (map[dependency.ErasureKey]dependency.Erasure, error) {
	return read(t, "Erasures", len(keys), func() (map[dependency.ErasureKey]dependency.Erasure, error) { return t.Tx.Erasures(ctx, keys) })
}

func (t *tx) SaveErasures(ctx context.Context, erasures []dependency.Erasure) error {
	return t.run("SaveErasures", len(erasures), func() error { return t.Tx.SaveErasures(ctx, erasures) })
}

func (t *tx) CountDeletions(ctx context.Context, f dependency.DeletionFilter) (int, error) {
	return read(t, "CountDeletions", 1, func() (int, error) { return t.Tx.CountDeletions(ctx, f) })
}

func (t *tx) Overdue(ctx context.Context, dueBefore time.Time, limit int) ([]dependency.DeletionRecord, error) {
	return read(t, "Overdue", 1, func() ([]dependency.DeletionRecord, error) { return t.Tx.Overdue(ctx, dueBefore, limit) })
}

func (t *tx) CountIncomplete(ctx context.Context, stalledSince time.Time) (dependency.Incomplete, error) {
	return read(t, "CountIncomplete", 1, func() (dependency.Incomplete, error) { return t.Tx.CountIncomplete(ctx, stalledSince) })
}

func (t *tx) FirstErasures(ctx context.Context, deletions []string, n int) (map[string][]dependency.Erasure, error) {
	return read(t, "FirstErasures", len(deletions), func() (map[string][]dependency.Erasure, error) { return t.Tx.FirstErasures(ctx, deletions, n) })
}

func (t *tx) ListErasures(ctx context.Context, deletion string, after, limit int) ([]dependency.Erasure, error) {
	return read(t, "ListErasures", 1, func() ([]dependency.Erasure, error) { return t.Tx.ListErasures(ctx, deletion, after, limit) })
}

func (t *tx) DueErasures(ctx context.Context, now time.Time, done bool, limit int) ([]dependency.Erasure, error) {
	return read(t, "DueErasures", 1, func() ([]dependency.Erasure, error) { return t.Tx.DueErasures(ctx, now, done, limit) })
}

func (t *tx) Commands(ctx context.Context, f dependency.CommandFilter) ([]dependency.Command, error) {
	return read(t, "Commands", 1, func() ([]dependency.Command, error) { return t.Tx.Commands(ctx, f) })
}

func (t *tx) CountCommands(ctx context.Context, now time.Time) (count int, oldest time.Time, err error) {
	err = t.run("CountCommands", 1, func() (err error) {
		count, oldest, err = t.Tx.CountCommands(ctx, now)
		return err
	})
	return count, oldest, err
}

func (t *tx) SaveCommands(ctx context.Context, commands []dependency.Command) error {
	return t.run("SaveCommands", len(commands), func() error { return t.Tx.SaveCommands(ctx, commands) })
}

func (t *tx) DropCommands(ctx context.Context, deletions []string) error {
	return t.run("DropCommands", len(deletions), func() error { return t.Tx.DropCommands(ctx, deletions) })
}

func (t *tx) RemoveCommands(ctx context.Context, ids []string) error {
	return t.run("RemoveCommands", len(ids), func() error { return t.Tx.RemoveCommands(ctx, ids) })
}

func (t *tx) Append(ctx context.Context, entries []dependency.Entry) error {
	return t.run("Append", len(entries), func() error { return t.Tx.Append(ctx, entries) })
}

func (t *tx) Trail(ctx context.Context, asset string, after int64, limit int) ([]dependency.Entry, error) {
	return read(t, "Trail", 1, func() ([]dependency.Entry, error) { return t.Tx.Trail(ctx, asset, after, limit) })
}

func (t *tx) Entries(ctx context.Context, after string, limit int) ([]dependency.Entry, error) {
	return read(t, "Entries", 1, func() ([]dependency.Entry, error) { return t.Tx.Entries(ctx, after, limit) })
}

func (t *tx) CountEntries(ctx context.Context, from, to string, limit int) (map[string]int, error) {
	return read(t, "CountEntries", 1, func() (map[string]int, error) { return t.Tx.CountEntries(ctx, from, to, limit) })
}

func (t *tx) LastSequences(ctx context.Context, assets []string) (map[string]int64, error) {
	return read(t, "LastSequences", len(assets), func() (map[string]int64, error) { return t.Tx.LastSequences(ctx, assets) })
}

func (t *tx) Unsent(ctx context.Context, before time.Time, limit int) ([]dependency.Entry, error) {
	return read(t, "Unsent", 1, func() ([]dependency.Entry, error) { return t.Tx.Unsent(ctx, before, limit) })
}

func (t *tx) MarkSent(ctx context.Context, ids []string) error {
	return t.run("MarkSent", len(ids), func() error { return t.Tx.MarkSent(ctx, ids) })
}

func (t *tx) MarkUnsent(ctx context.Context, since time.Time, after string, limit int) (string, error) {
	return read(t, "MarkUnsent", 1, func() (string, error) { return t.Tx.MarkUnsent(ctx, since, after, limit) })
}

func (t *tx) Batches(ctx context.Context, ids []string) (map[string]dependency.BatchRecord, error) {
	return read(t, "Batches", len(ids), func() (map[string]dependency.BatchRecord, error) { return t.Tx.Batches(ctx, ids) })
}

func (t *tx) SaveBatches(ctx context.Context, batches []dependency.BatchRecord) error {
	return t.run("SaveBatches", len(batches), func() error { return t.Tx.SaveBatches(ctx, batches) })
}

func (t *tx) OpenBatches(ctx context.Context, limit int) ([]dependency.BatchRecord, error) {
	return read(t, "OpenBatches", 1, func() ([]dependency.BatchRecord, error) { return t.Tx.OpenBatches(ctx, limit) })
}

func (t *tx) ErasingOwners(ctx context.Context, owners []string) (map[string]string, error) {
	return read(t, "ErasingOwners", len(owners), func() (map[string]string, error) { return t.Tx.ErasingOwners(ctx, owners) })
}

func (t *tx) CountBatch(ctx context.Context, batch string) (map[dependency.Status]int, error) {
	return read(t, "CountBatch", 1, func() (map[dependency.Status]int, error) { return t.Tx.CountBatch(ctx, batch) })
}

func (t *tx) SaveRefusals(ctx context.Context, refusals []dependency.Refusal) error {
	return t.run("SaveRefusals", len(refusals), func() error { return t.Tx.SaveRefusals(ctx, refusals) })
}

func (t *tx) RemoveRefusals(ctx context.Context, batch string, assets []string) error {
	return t.run("RemoveRefusals", len(assets), func() error { return t.Tx.RemoveRefusals(ctx, batch, assets) })
}

func (t *tx) ListRefusals(ctx context.Context, batch, after string, limit int) ([]dependency.Refusal, error) {
	return read(t, "ListRefusals", 1, func() ([]dependency.Refusal, error) { return t.Tx.ListRefusals(ctx, batch, after, limit) })
}

func (t *tx) CountRefusals(ctx context.Context, batch string) (int, error) {
	return read(t, "CountRefusals", 1, func() (int, error) { return t.Tx.CountRefusals(ctx, batch) })
}

func (t *tx) Usage(ctx context.Context, owners []string) (map[string]dependency.Usage, error) {
	return read(t, "Usage", len(owners), func() (map[string]dependency.Usage, error) { return t.Tx.Usage(ctx, owners) })
}

func (t *tx) AddUsage(ctx context.Context, deltas map[string]dependency.Usage) error {
	return t.run("AddUsage", len(deltas), func() error { return t.Tx.AddUsage(ctx, deltas) })
}

func (t *tx) Keys(ctx context.Context, keys []dependency.Key) ([]dependency.Key, error) {
	return read(t, "Keys", len(keys), func() ([]dependency.Key, error) { return t.Tx.Keys(ctx, keys) })
}

func (t *tx) SaveKeys(ctx context.Context, keys []dependency.Key) error {
	return t.run("SaveKeys", len(keys), func() error { return t.Tx.SaveKeys(ctx, keys) })
}

func (t *tx) Places(ctx context.Context, places []string) (map[string]string, error) {
	return read(t, "Places", len(places), func() (map[string]string, error) { return t.Tx.Places(ctx, places) })
}

func (t *tx) SavePlaces(ctx context.Context, holders map[string]string) error {
	return t.run("SavePlaces", len(holders), func() error { return t.Tx.SavePlaces(ctx, holders) })
}

func (t *tx) ReleasePlaces(ctx context.Context, assets []string) error {
	return t.run("ReleasePlaces", len(assets), func() error { return t.Tx.ReleasePlaces(ctx, assets) })
}

func (t *tx) Forget(ctx context.Context, assets, deletions []string) error {
	return t.run("Forget", len(assets)+len(deletions), func() error { return t.Tx.Forget(ctx, assets, deletions) })
}

func (t *tx) Setting(ctx context.Context, name string) (string, error) {
	return read(t, "Setting", 1, func() (string, error) { return t.Tx.Setting(ctx, name) })
}

func (t *tx) SaveSetting(ctx context.Context, name, value string) error {
	return t.run("SaveSetting", 1, func() error { return t.Tx.SaveSetting(ctx, name, value) })
}
