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
