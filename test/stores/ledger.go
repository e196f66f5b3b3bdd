package stores

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Ledger gives a copy of the product's ledger of erasures, as a backup does.
func (s *Stores) Ledger(ctx context.Context) (records []bson.Raw, err error) {
	cur, err := s.documents.Collection(s.ledgerName()).Find(ctx, bson.M{})
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	if err := cur.All(ctx, &records); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return records, nil
}

// SetLedger puts an older copy in the place of the ledger; none: it is lost.
func (s *Stores) SetLedger(ctx context.Context, records []bson.Raw) error {
	c := s.documents.Collection(s.ledgerName())
	if err := c.Drop(ctx); err != nil {
		return fmt.Errorf("drop the ledger: %w", err)
	}
	if len(records) == 0 {
		return nil
	}
	if _, err := c.InsertMany(ctx, records); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	return nil
}

func (s *Stores) ledgerName() string { return s.Namespace + "_erasures" }
