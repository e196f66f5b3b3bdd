package s3

import (
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

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
	"Forbidden":                    asset.ReasonAccessDenied, // no code, and status 403
	"Unauthorized":                 asset.ReasonAccessDenied, // no code, and status 401
	"InvalidAccessKeyId":           asset.ReasonCredentialsExpired,
	"SignatureDoesNotMatch":        asset.ReasonCredentialsExpired,
	"ExpiredToken":                 asset.ReasonCredentialsExpired,
	"InvalidToken":                 asset.ReasonCredentialsExpired,
	"TokenRefreshRequired":         asset.ReasonCredentialsExpired,
	"RequestTimeTooSkewed":         asset.ReasonClockSkew,
	"RequestExpired":               asset.ReasonClockSkew,
	"NotImplemented":               asset.ReasonEndpointWrong, // it lacks the call
	"MethodNotAllowed":             asset.ReasonEndpointWrong, // the same
	"NotFound":                     asset.ReasonEndpointWrong, // no code, and status 404: a web server's page
	"BadRequest":                   asset.ReasonEndpointWrong, // no code, and status 400: TLS is spoken there
	"MovedPermanently":             asset.ReasonEndpointWrong,
	"Found":                        asset.ReasonEndpointWrong,
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
	reason, ok := obstacles[code(err)]
	if !ok && (isForeign(err) || isNowhere(err)) {
		reason, ok = asset.ReasonEndpointWrong, true
	}
	if ok {
		return &asset.Blocked{Reason: reason, Detail: fmt.Sprintf("%s: %v", operation, err)}
	}
	return fmt.Errorf("%s: %w", operation, keyless(err))
}

// keyless puts what to set before the error of an SDK that has found no credentials, which tells only of the last place where
// it looked: the metadata service of a machine of EC2. That may be away on such a machine, so it counts as what may pass.
func keyless(err error) error {
	rest := err
	for operation := (*smithy.OperationError)(nil); errors.As(rest, &operation); rest = operation.Err {
		if operation.ServiceID == "ec2imds" {
			return fmt.Errorf("there are no credentials for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or another of the AWS SDK's sources: %w", err)
		}
	}
	return err
}

// isForeign tells an answer that no S3 store gives: the endpoint is something else. What a proxy on the way says while the
// store is away (status 500 and above) is not meant.
func isForeign(err error) bool {
	var bad *unreadable
	if errors.As(err, &bad) {
		return bad.foreign
	}
	var answer *smithyhttp.ResponseError
	var text *xml.SyntaxError
	return errors.As(err, &answer) && answer.HTTPStatusCode() < http.StatusInternalServerError && errors.As(err, &text) && text.Msg != cutXML
}

// isNowhere tells an endpoint whose name nobody knows, or which does not speak as its URL says.
func isNowhere(err error) bool {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &name) && name.IsNotFound || errors.As(err, &certificate) || errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch)
}
