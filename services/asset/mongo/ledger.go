package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Ledger is the ledger of erasures, in one collection of the store. Its records are inserted and never changed; their ids
// make an insert a compare-and-set, so that of several workers one wins and the others read what stands.
type Ledger struct {
	records *mongo.Collection
}

var _ asset.Ledger = (*Ledger)(nil)

// Ledger gives the store's ledger.
func (s *Store) Ledger() *Ledger { return &Ledger{records: s.ledger} }

// Open implements asset.Ledger: all heads are inserted with one command, and only those that stood already are read.
func (l *Ledger) Open(ctx context.Context, heads []asset.Head) ([]asset.Entry, []error) {
	records := make([]record, len(heads))
	for i, head := range heads {
		records[i] = headRecord(head)
	}
	entries := make([]asset.Entry, len(heads))
	stood, errs := l.insert(ctx, records)
	together(len(heads), func(i int) {
		switch {
		case errs[i] != nil:
		case stood[i]:
			entries[i], errs[i] = l.entry(ctx, heads[i].Key)
		default:
			entries[i] = asset.Entry{Fresh: true, Pages: 1}
		}
	})
	return entries, errs
}

// Page implements asset.Ledger.
func (l *Ledger) Page(ctx context.Context, key asset.LedgerKey, number int, inventory asset.Inventory) (fresh bool, err error) {
	stood, errs := l.insert(ctx, []record{pageRecord(key, number, inventory)})
	return !stood[0] && errs[0] == nil, errs[0]
}

// Done implements asset.Ledger.
func (l *Ledger) Done(ctx context.Context, closing []asset.Record) ([]events.PartEvidence, []error) {
	records, evidence := make([]record, len(closing)), make([]events.PartEvidence, len(closing))
	for i, c := range closing {
		records[i], evidence[i] = doneRecord(c), c.Evidence
	}
	stood, errs := l.insert(ctx, records)
	together(len(closing), func(i int) {
		if errs[i] != nil || !stood[i] {
			return
		}
		var done *record
		if done, errs[i] = l.read(ctx, records[i].ID, nil); errs[i] == nil {
			evidence[i] = done.evidence()
		}
	})
	return evidence, errs
}

// Totals implements asset.Ledger. Versions are read of the last inventory only: an erasure may have many.
func (l *Ledger) Totals(ctx context.Context, key asset.LedgerKey) (asset.Inventory, error) {
	var sum asset.Inventory
	counts := bson.D{{Key: "inventory.versions", Value: 0}}
	last := 0
	for {
		r, err := l.read(ctx, inventoryID(key, last+1), counts)
		if errors.Is(err, mongo.ErrNoDocuments) {
			break
		}
		if err != nil {
			return asset.Inventory{}, err
		}
		last++
		sum.Documents += r.Inventory.Documents
		sum.Objects += r.Inventory.Objects
		sum.Bytes += r.Inventory.Bytes
	}
	if last == 0 {
		return sum, nil
	}
	r, err := l.read(ctx, inventoryID(key, last), nil)
	if err != nil {
		return asset.Inventory{}, err
	}
	sum.Versions, sum.At = r.Inventory.versions(), r.Inventory.At
	return sum, nil
}

// entry tells how far an erasure is whose head stands.
func (l *Ledger) entry(ctx context.Context, key asset.LedgerKey) (asset.Entry, error) {
	var e asset.Entry
	done, err := l.read(ctx, doneID(key), nil)
	if err == nil {
		e.Done, e.Evidence = true, done.evidence()
	} else if !errors.Is(err, mongo.ErrNoDocuments) {
		return e, err
	}
	e.Pages, err = lastPage(func(number int) (bool, error) {
		_, err := l.read(ctx, inventoryID(key, number), bson.D{{Key: "_id", Value: 1}})
		if errors.Is(err, mongo.ErrNoDocuments) {
			return false, nil
		}
		return err == nil, err
	})
	return e, err
}

// lastPage finds the last of the pages, which are numbered without a gap from 1, by looking at few of them: it doubles its
// steps until it is behind the last, then halves them. It asks by single ids, as every server finds those quickly.
func lastPage(exists func(number int) (bool, error)) (int, error) {
	known, step := 1, 1
	for growing := true; step > 0; {
		there, err := exists(known + step)
		if err != nil {
			return 0, err
		}
		if there {
			known += step
		}
		if growing = growing && there; growing {
			step *= 2
		} else {
			step /= 2
		}
	}
	return known, nil
}

// insert adds records, all with one command. stood tells which of them stood already.
func (l *Ledger) insert(ctx context.Context, records []record) (stood []bool, errs []error) {
	stood, errs = make([]bool, len(records)), make([]error, len(records))
	if len(records) == 0 {
		return stood, errs
	}
	_, err := l.records.InsertMany(ctx, records, options.InsertMany().SetOrdered(false))
	errs = bulkErrors("write the ledger", err, len(records))
	for i, err := range errs {
		if mongo.IsDuplicateKeyError(err) {
			stood[i], errs[i] = true, nil
		}
	}
	return stood, errs
}

// read gives one record by its id, whole or as the projection says; mongo.ErrNoDocuments when there is none.
func (l *Ledger) read(ctx context.Context, id string, projection any) (*record, error) {
	var r record
	find := options.FindOne()
	if projection != nil {
		find.SetProjection(projection)
	}
	err := l.records.FindOne(ctx, bson.D{{Key: "_id", Value: id}}, find).Decode(&r)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, err
	}
	if err != nil {
		return nil, fault("read the ledger", err)
	}
	return &r, nil
}
