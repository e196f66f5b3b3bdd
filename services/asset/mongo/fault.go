package mongo

import (
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// Codes of the wire protocol (mongodb.com, "Error Codes").
const (
	codeUnauthorized         = 13
	codeAuthenticationFailed = 18
	codeInvalidNamespace     = 73
)

// refusals are the codes by which a server says that it does not take a document as it is: BadValue, FailedToParse,
// TypeMismatch, InvalidBSON, DollarPrefixedFieldName, EmptyFieldName, DottedFieldName, DocumentValidationFailure,
// NotImplemented (FerretDB: arrays in arrays), BSONObjectTooLarge.
var refusals = []int{2, 9, 14, 22, 52, 56, 57, 121, 238, 10334}

// writeFault is fault for a write of a caller's document, which the server may refuse for what it is.
func writeFault(err error) error {
	var server mongo.ServerError
	if errors.As(err, &server) && slices.ContainsFunc(refusals, server.HasErrorCode) {
		return problem.New(problem.InvalidRequest, "the document store does not take this document: %v", err).At("body")
	}
	return fault("write document", err)
}

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
