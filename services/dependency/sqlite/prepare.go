package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
)

// migrations are run in the order of their names, each once; the number of those that a file has seen is its
// user_version. A migration that was released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Prepare brings the file's tables to what this program needs, in one transaction. A file that a newer program has
// prepared is refused.
func (g *Graph) Prepare(ctx context.Context) error {
	err := g.writer.transaction(ctx, "BEGIN IMMEDIATE", func(c *connection) error { return migrate(ctx, c) })
	if err != nil {
		return fmt.Errorf("prepare graph: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, c *connection) error {
	scripts, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	var version int
	if err := c.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return failure(ctx, err)
	}
	if version > len(scripts) {
		return fmt.Errorf("the file is of a newer version (%d) than this program knows (%d); use the newer program", version, len(scripts))
	}
	for i, name := range scripts[version:] {
		script, err := fs.ReadFile(migrations, name)
		if err != nil {
			return err
		}
		script = fmt.Appendf(script, "PRAGMA user_version = %d;", version+i+1)
		if _, err := c.conn.ExecContext(ctx, string(script)); err != nil {
			return failure(ctx, fmt.Errorf("%s: %w", name, err))
		}
	}
	return nil
}
