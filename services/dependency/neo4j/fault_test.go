package neo4j

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

func serverSays(code string) error { return fmt.Errorf("save: %w", &neo4j.Neo4jError{Code: code}) }

func TestWhatAnErrorMeansForTheTransaction(t *testing.T) {
	broken := fmt.Errorf("save: %w", &neo4j.ConnectivityError{Inner: io.EOF})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name                  string
		ctx                   context.Context
		err                   error
		before, begin, commit fault
	}{
		{"deadlock", t.Context(), serverSays("Neo.TransientError.Transaction.DeadlockDetected"), conflict, conflict, conflict},
		{"lock timeout", t.Context(), serverSays("Neo.TransientError.Transaction.LockAcquisitionTimeout"), conflict, conflict, conflict},
		{"terminated", t.Context(), serverSays("Neo.TransientError.Transaction.Terminated"), conflict, conflict, conflict},
		{"a leader that is none", t.Context(), serverSays("Neo.ClientError.Cluster.NotALeader"), conflict, conflict, late},
		{"a leader that changed", t.Context(), serverSays("Neo.TransientError.Transaction.LeaderSwitch"), conflict, conflict, late},
		{"not replicated", t.Context(), serverSays("Neo.TransientError.Cluster.ReplicationFailure"), conflict, conflict, late},
		{"a unique id taken", t.Context(), serverSays("Neo.ClientError.Schema.ConstraintValidationFailed"), race, race, race},
		{"out of memory", t.Context(), serverSays("Neo.TransientError.General.MemoryPoolOutOfMemoryError"), strain, strain, strain},
		{"not up yet", t.Context(), serverSays("Neo.TransientError.General.DatabaseUnavailable"), away, away, late},
		{"time over", t.Context(), serverSays("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"), late, late, late},
		{"no right", t.Context(), serverSays("Neo.ClientError.Security.Forbidden"), foreign, foreign, foreign},
		{"a connection lost", t.Context(), broken, lost, away, late},
		{"an answer cut in its middle", t.Context(), fmt.Errorf("read: %w", io.ErrUnexpectedEOF), lost, away, late},
		{"a connection reset", t.Context(), fmt.Errorf("read: %w", &net.OpError{Op: "read", Err: syscall.ECONNRESET}), lost, away, late},
		{"no server in the cluster", t.Context(), errors.New("pool could not find any servers"), foreign, away, late},
		{"the caller gone", over, broken, late, late, late},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := faultOf(c.ctx, c.err); got != c.before {
				t.Errorf("before the commit: %d, want %d", got, c.before)
			}
			if got := beginFault(c.ctx, c.err); got != c.begin {
				t.Errorf("at the begin: %d, want %d", got, c.begin)
			}
			if got := commitFault(c.ctx, c.err); got != c.commit {
				t.Errorf("at the commit: %d, want %d", got, c.commit)
			}
		})
	}
}

// H-21.
func TestPatienceEndsWhereAnotherTryIsOfNoUse(t *testing.T) {
	for f, want := range map[fault]int{foreign: 0, late: 0, strain: strainsTolerated, race: racesTolerated, lost: lossesTolerated, away: 0} {
		p := patience{delay: delays()}
		tries := 0
		for p.again(t.Context(), f) {
			tries++
		}
		if tries != want {
			t.Errorf("fault %d was tried again %d times, want %d", f, tries, want)
		}
	}
}
