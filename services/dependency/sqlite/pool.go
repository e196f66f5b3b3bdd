package sqlite

import (
	"context"
	"database/sql"
)

// pool hands out connections, first come, first served.
type pool struct {
	idle   chan *connection
	closed <-chan struct{}
	open   int // not drained yet
}

func newPool(closed <-chan struct{}, size int) *pool {
	return &pool{idle: make(chan *connection, size), closed: closed}
}

// connect fills the pool, and runs the statement on each connection.
func (p *pool) connect(db *sql.DB, setup string) error {
	ctx := context.Background()
	for range cap(p.idle) {
		conn, err := db.Conn(ctx)
		if err != nil {
			return failure(ctx, err)
		}
		c := &connection{conn: conn, prepared: map[string]*sql.Stmt{}}
		p.idle <- c
		p.open++
		if err := c.exec(ctx, setup); err != nil {
			return err
		}
	}
	return nil
}

// with lends a connection to fn. The error is fn's, or says why there is no connection.
func (p *pool) with(ctx context.Context, fn func(*connection) error) error {
	if err := ctx.Err(); err != nil {
		return unavailable(err)
	}
	select {
	case <-p.closed:
		return unavailable(errClosed)
	default:
	}
	select {
	case <-p.closed:
		return unavailable(errClosed)
	case <-ctx.Done():
		return unavailable(ctx.Err())
	case c := <-p.idle:
		defer func() { p.idle <- c }()
		return fn(c)
	}
}

// transaction runs fn between begin and a commit, which comes when fn returns nil. A commit is not cut short by ctx, so
// its outcome is always known. Whatever else happens, a panic too, rolls back.
func (p *pool) transaction(ctx context.Context, begin string, fn func(*connection) error) error {
	return p.with(ctx, func(c *connection) error {
		committed := false
		defer func() {
			if !committed {
				c.rollback()
			}
		}()
		if err := c.exec(ctx, begin); err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return unavailable(err)
		}
		err := c.exec(context.WithoutCancel(ctx), "COMMIT")
		committed = err == nil
		return err
	})
}

// drain takes the connections back and closes them; when ctx ends it leaves the rest for another call.
func (p *pool) drain(ctx context.Context) error {
	for ; p.open > 0; p.open-- {
		select {
		case <-ctx.Done():
			return unavailable(ctx.Err())
		case c := <-p.idle:
			c.close()
		}
	}
	return nil
}
