//go:build unix

package devstack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// InUseError says that another process works on the data folder.
type InUseError struct {
	Dir string
	PID int // of the other process; 0 when it is not known
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("data folder %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("data folder %s is in use by process %d", e.Dir, e.PID)
}

// lock is a lock on a folder that ends with the process, however that ends.
type lock struct{ file *os.File }

// lockFolder takes the lock or tells who holds it. The file names its holder and is never removed: removing it would
// let two processes lock two different files of one name.
func lockFolder(dir string) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := io.ReadAll(io.LimitReader(f, 20))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(holder)))
		return nil, errors.Join(&InUseError{Dir: dir, PID: pid}, f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock data folder: %w", err), f.Close())
	}
	return &lock{file: f}, nil
}

// InUse tells, with an *InUseError, that another process works on the folder. Nil is no promise for the next moment.
func InUse(dir string) error {
	l, err := lockFolder(dir)
	if err != nil {
		return err
	}
	return l.release()
}

// release gives the lock back.
func (l *lock) release() error { return l.file.Close() }
