package neo4j

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
)

// fault is what an error means for the transaction.
type fault int

const (
	foreign  fault = iota // fn's own error, or one of the server that another try does not cure
	conflict              // the server undid the transaction for the sake of another
	race                  // another transaction was faster to make the same record
	strain                // the server lacks memory or the like
	lost                  // the connection broke in the middle, before the commit
	away                  // the server cannot be reached
	late                  // the time is over, or the answer to a commit is lost
)

// errRace is returned by methods that find out by themselves that another transaction was faster.
var errRace = errors.New("another transaction was faster")

// faultOf classifies an error of the driver before the commit.
func faultOf(ctx context.Context, err error) fault {
	var server *neo4j.Neo4jError
	var connection *neo4j.ConnectivityError
	switch {
	case ctx.Err() != nil:
		return late
	case errors.Is(err, errRace):
		return race
	case errors.As(err, &server):
		return serverFault(server)
	case errors.As(err, &connection), cutOff(err):
		return lost
	}
	return foreign
}

// cutOff tells an answer that ends in its middle: the driver gives such an error as the connection gave it.
func cutOff(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// serverFault classifies what the server says, by its status codes.
func serverFault(err *neo4j.Neo4jError) fault {
	code := strings.TrimPrefix(err.Code, "Neo.")
	switch code {
	case "ClientError.Schema.ConstraintValidationFailed", "ClientError.Schema.EquivalentSchemaRuleAlreadyExists":
		return race
	case "ClientError.Transaction.TransactionTimedOut", "ClientError.Transaction.TransactionTimedOutClientConfiguration":
		return late
	case "ClientError.Transaction.LockClientStopped", "ClientError.Transaction.Terminated", "ClientError.Cluster.NotALeader":
		return conflict
	case "TransientError.General.DatabaseUnavailable":
		return away
	}
	switch {
	case strings.HasPrefix(code, "TransientError.Transaction."), strings.HasPrefix(code, "TransientError.Cluster."):
		return conflict
	case err.IsRetriable():
		return strain
	}
	return foreign
}

// beginFault classifies an error of the first contact, where what is not the server's answer is about the way there.
func beginFault(ctx context.Context, err error) fault {
	f := faultOf(ctx, err)
	var server *neo4j.Neo4jError
	var usage *neo4j.UsageError
	if f == lost || f == foreign && !errors.As(err, &server) && !errors.As(err, &usage) {
		return away
	}
	return f
}

// commitFault classifies an error of a commit. Only where the server says that it undid the transaction may it be run
// again; a cluster that changed its leader meanwhile does not know.
func commitFault(ctx context.Context, err error) fault {
	f := faultOf(ctx, err)
	var server *neo4j.Neo4jError
	if !errors.As(err, &server) || f == away || strings.Contains(server.Code, ".Cluster.") || strings.Contains(server.Code, "LeaderSwitch") {
		return late
	}
	return f
}
