// Package sqlite keeps the graph in one SQLite file, for `tombstone dev` and for small installations of one process.
//
// One connection writes, in immediate transactions one after the other, so the locks of a transaction are the whole
// database; others read beside it from the last commit (write-ahead log). A commit has reached the disk when it returns.
// Another process on the same file waits for its turn and harms nothing.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// readers is how many views run side by side.
const readers = 4

// Graph is a dependency.Graph in one SQLite file.
type Graph struct {
	db      *sql.DB
	writer  *pool
	readers *pool

	closed  chan struct{} // closed when Close begins
	closing sync.Mutex
}

var _ dependency.Graph = (*Graph)(nil)

// Open opens the file, making it if need be; its folder must exist. Prepare comes next.
func Open(path string) (*Graph, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open graph: %w", err)
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, fmt.Errorf("open graph: %w", err)
	}
	closed := make(chan struct{})
	g := &Graph{db: db, closed: closed, writer: newPool(closed, 1), readers: newPool(closed, readers)}
	if err := g.connect(); err != nil {
		return nil, fmt.Errorf("open graph %s: %w", path, errors.Join(why(path, err), g.Close(context.Background())))
	}
	return g, nil
}

// why tells what is wrong with a path that could not be opened, which the driver does not: the folder is missing, the path is
// one of a folder, a right is missing. Trying again is of no use for any of them.
func why(path string, err error) error {
	if _, missing := os.Stat(filepath.Dir(path)); missing != nil {
		return fmt.Errorf("make its folder first: %w", missing)
	}
	file, refused := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(refused, fs.ErrNotExist) {
		file, refused = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if refused != nil {
		return refused
	}
	return errors.Join(err, file.Close())
}

// source is the file with what every connection is set to: FULL and fullfsync make a commit last through a power cut;
// a writer of another process is waited for as long as the context allows, a minute at most; 1 MB of cache; a log that has
// grown in a large import shrinks to 64 MB again.
func source(path string) string {
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if filepath.VolumeName(path) != "" {
		file.Path = "/" + file.Path
	}
	file.RawQuery = url.Values{"_pragma": {
		"busy_timeout(60000)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "foreign_keys(1)", "cache_size(-1000)",
		"journal_size_limit(67108864)",
	}}.Encode()
	return file.String()
}

// connect opens all connections; the writer's comes first and makes the file. It alone has 16 MB of cache: with less, an
// import into a large graph reads the same pages again and again; what readers miss is in the system's cache.
func (g *Graph) connect() error {
	if err := g.writer.connect(g.db, "PRAGMA cache_size = -16000"); err != nil {
		return err
	}
	return g.readers.connect(g.db, "PRAGMA query_only = 1")
}

// Update runs fn once, alone among all writers.
func (g *Graph) Update(ctx context.Context, fn func(dependency.Tx) error) error {
	return g.writer.transaction(ctx, "BEGIN IMMEDIATE", inTx(fn))
}

// View runs fn on what was committed when its first read began.
func (g *Graph) View(ctx context.Context, fn func(dependency.Tx) error) error {
	return g.readers.transaction(ctx, "BEGIN", inTx(fn))
}

// Ping reads from the file.
func (g *Graph) Ping(ctx context.Context) error {
	return g.readers.with(ctx, func(c *connection) error { return c.exec(ctx, "PRAGMA user_version") })
}

// Close refuses what comes from now on, waits for what is in hand, and closes the file. When ctx ends before that, it may
// be called again.
func (g *Graph) Close(ctx context.Context) error {
	g.closing.Lock()
	defer g.closing.Unlock()
	select {
	case <-g.closed:
	default:
		close(g.closed)
	}
	for _, p := range []*pool{g.writer, g.readers} {
		if err := p.drain(ctx); err != nil {
			return fmt.Errorf("close graph: %w", err)
		}
	}
	if err := g.db.Close(); err != nil {
		return fmt.Errorf("close graph: %w", err)
	}
	return nil
}
