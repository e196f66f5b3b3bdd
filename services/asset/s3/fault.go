package s3

import (
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/tombstone-project/tombstone/services/asset"
)

// obstacles are the error codes that no retry gets past ("Error responses" of the S3 API reference), each with what it means.
var obstacles = map[string]asset.Reason{
	"NoSuchBucket":                 asset.ReasonBucketMissing,
	"PermanentRedirect":            asset.ReasonBucketMissing, // it is in another region
	"AuthorizationHeaderMalformed": asset.ReasonBucketMissing, // the same
	"InvalidBucketName":            asset.ReasonBucketMissing,
	"AccessDenied":                 asset.ReasonAccessDenied,
	"AllAccessDisabled":            asset.ReasonAccessDenied,
	"AccountProblem":               asset.ReasonAccessDenied,
	"InvalidAccessKeyId":           asset.ReasonCredentialsExpired,
	"SignatureDoesNotMatch":        asset.ReasonCredentialsExpired,
	"ExpiredToken":                 asset.ReasonCredentialsExpired,
	"InvalidToken":                 asset.ReasonCredentialsExpired,
	"TokenRefreshRequired":         asset.ReasonCredentialsExpired,
	"RequestTimeTooSkewed":         asset.ReasonClockSkew,
	"RequestExpired":               asset.ReasonClockSkew,
}

// code is the error code that the store answered with; empty when it did not answer.
func code(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode()
	}
	return ""
}

// fault names the operation that failed and the bucket. What nobody but an operator can mend becomes a *asset.Blocked;
// everything else, throttling too, may pass.
func fault(operation, bucket string, err error) error {
	if bucket != "" {
		operation += " in bucket " + bucket
	}
	if reason, ok := obstacles[code(err)]; ok {
		return &asset.Blocked{Reason: reason, Detail: fmt.Sprintf("%s: %v", operation, err)}
	}
	return fmt.Errorf("%s: %w", operation, err)
}
