package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/tombstone-project/tombstone/problem"
)

var errClosed = errors.New("closed")

// unavailable says that the store did not answer.
func unavailable(err error) error {
	return fmt.Errorf("%w: %w", problem.New(problem.Unavailable, "the graph does not answer; try again").With("store", "graph"), err)
}

// failure tells a store that does not answer (the context ended, another process holds the file, the disk is full or
// fails) from a fault of the call.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return unavailable(errors.Join(ctx.Err(), err))
	}
	var answer *sqlite.Error
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code() & 0xff { // the primary code of an extended one
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_NOMEM, lib.SQLITE_PROTOCOL:
		return unavailable(err)
	}
	return err
}
