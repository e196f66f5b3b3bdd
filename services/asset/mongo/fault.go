package mongo

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Codes of the wire protocol (mongodb.com, "Error Codes").
const (
	codeUnauthorized         = 13
	codeAuthenticationFailed = 18
	codeInvalidNamespace     = 73
)

// fault names the operation that failed. What nobody but an operator can mend becomes a *asset.Blocked.
func fault(operation string, err error) error {
	var server mongo.ServerError
	if errors.As(err, &server) {
		switch {
		case server.HasErrorCode(codeUnauthorized), server.HasErrorCode(codeAuthenticationFailed):
			err = &asset.Blocked{Reason: asset.ReasonAccessDenied, Detail: err.Error()}
		case server.HasErrorCode(codeInvalidNamespace):
			err = &asset.Blocked{Reason: asset.ReasonDatabaseMissing, Detail: err.Error()}
		}
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// bulkErrors gives each of n operations of one unordered command its own error. What failed as a whole failed for all: the
// server away, or a majority that did not confirm.
func bulkErrors(operation string, err error, n int) []error {
	errs := make([]error, n)
	var answer mongo.BulkWriteException
	if err != nil && (!errors.As(err, &answer) || answer.WriteConcernError != nil || len(answer.WriteErrors) == 0) {
		err = fault(operation, err)
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	for _, e := range answer.WriteErrors {
		errs[e.Index] = fault(operation, e)
	}
	return errs
}
