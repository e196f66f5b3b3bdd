package sqlite

import (
	"context"
	"database/sql"
)

// connection is one connection to the file, with the statements that were prepared on it so far: a fixed set of texts,
// whatever the arguments.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func (c *connection) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.prepared[query]; ok {
		return s, nil
	}
	s, err := c.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.prepared[query] = s
	return s, nil
}

// exec runs a statement without arguments, whose result nobody asks for.
func (c *connection) exec(ctx context.Context, query string) error {
	_, err := c.affect(ctx, query)
	return err
}

// affect runs a statement and tells how many rows it changed.
func (c *connection) affect(ctx context.Context, query string, args ...any) (int64, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return 0, failure(ctx, err)
	}
	result, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, failure(ctx, err)
	}
	return result.RowsAffected()
}

// rollback gives up the transaction, if the store has not done so by itself after a failure.
func (c *connection) rollback() { _ = c.exec(context.Background(), "ROLLBACK") }

func (c *connection) close() {
	for _, s := range c.prepared {
		_ = s.Close()
	}
	_ = c.conn.Close()
}
