package devstack

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	// ferretRegistry is the table in which FerretDB keeps the collections of a database and their tables.
	ferretRegistry = "_ferretdb_collections"
	// ferretID is the expression by which FerretDB looks documents up; an index counts only on exactly this one.
	ferretID = "_ferretdb_sjson->'$._id'"
	// codeNamespaceExists is the wire protocol's answer to `create` of a collection that is there.
	codeNamespaceExists = 48
)

// Index makes look-ups by `_id` fast in these collections, as IndexFerret.
func (s *DocumentServer) Index(ctx context.Context, collections []string) error {
	return IndexFerret(ctx, s.client.Database(Database), s.dir, collections)
}

// IndexFerret makes the collections where they are missing and gives each an index for look-ups by `_id`: FerretDB's own is
// on an expression that it never asks for, so every look-up would read the whole collection. What is there stays. The
// folder is that of the server's SQLite files.
func IndexFerret(ctx context.Context, in *mongo.Database, dir string, collections []string) error {
	for _, name := range collections {
		err := in.CreateCollection(ctx, name)
		var answer mongo.CommandError
		if err != nil && !(errors.As(err, &answer) && answer.Code == codeNamespaceExists) {
			return fmt.Errorf("create collection %s: %w", name, err)
		}
	}
	db, err := openDatabase(filepath.Join(dir, in.Name()+".sqlite"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, name := range collections {
		if err := indexID(ctx, db, name); err != nil {
			return fmt.Errorf("index collection %s: %w", name, err)
		}
	}
	return nil
}

// indexID makes the index of one collection.
func indexID(ctx context.Context, db *sql.DB, collection string) error {
	var table string
	query := "SELECT table_name FROM " + quote(ferretRegistry) + " WHERE name = ?"
	if err := db.QueryRowContext(ctx, query, collection).Scan(&table); err != nil {
		return fmt.Errorf("find table: %w", err)
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s)",
		quote(table+"_by_id"), quote(table), ferretID))
	return err
}

// openDatabase opens one of FerretDB's files, patiently: FerretDB may be writing.
func openDatabase(path string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(10000)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// quote makes an SQL identifier of any name.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
