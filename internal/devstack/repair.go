package devstack

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// repairDatabases mends what a kill can leave of FerretDB's steps, which no transaction holds together. It makes a
// database in two steps (file, registry) and a collection in four (table, registry entry without settings, unique index,
// entry with its settings); documents come only after the last. What was not finished is empty and is taken away:
// FerretDB refuses to start on a file without registry, can never make a collection whose table it does not know, and
// would take duplicate ids in a collection without its index.
func repairDatabases(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	for _, file := range files {
		if err := repairDatabase(ctx, file); err != nil {
			return fmt.Errorf("repair %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

func repairDatabase(ctx context.Context, file string) error {
	db, err := openDatabase(file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tables, err := texts(ctx, db, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return err
	}
	if !tables[ferretRegistry] {
		if len(tables) > 0 {
			return fmt.Errorf("not a file of the document server")
		}
		_ = db.Close()
		return removeDatabase(file)
	}
	return dropUnfinished(ctx, db, tables)
}

// dropUnfinished removes registry entries without settings and tables without a finished entry.
func dropUnfinished(ctx context.Context, db *sql.DB, tables map[string]bool) error {
	registry := quote(ferretRegistry)
	if _, err := db.ExecContext(ctx, "DELETE FROM "+registry+" WHERE settings = '{}'"); err != nil {
		return err
	}
	finished, err := texts(ctx, db, "SELECT table_name FROM "+registry)
	if err != nil {
		return err
	}
	for table := range tables {
		if table == ferretRegistry || finished[table] || strings.HasPrefix(table, "sqlite_") {
			continue
		}
		if _, err := db.ExecContext(ctx, "DROP TABLE "+quote(table)); err != nil {
			return err
		}
	}
	return nil
}

// removeDatabase takes an empty database away with what SQLite keeps beside it.
func removeDatabase(file string) error {
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// texts reads a query of one column as a set.
func texts(ctx context.Context, db *sql.DB, query string) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	set := map[string]bool{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		set[text] = true
	}
	return set, rows.Err()
}
