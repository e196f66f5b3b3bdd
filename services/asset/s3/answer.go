package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// roots are the first elements of what we believe only when it is there, by operation. The SDK takes an empty body, and one
// of another sort, for an answer that says nothing: for a bucket without objects, or a batch without errors.
var roots = map[string]string{
	"ListObjectVersions":         "ListVersionsResult",
	"ListMultipartUploads":       "ListMultipartUploadsResult",
	"DeleteObjects":              "DeleteResult",
	"GetBucketVersioning":        "VersioningConfiguration",
	"GetObjectLockConfiguration": "ObjectLockConfiguration",
	"GetBucketReplication":       "ReplicationConfiguration",
}

// maxAnswer bounds an answer in memory: a page of 1,000 entries with the longest keys, encoded, is some 5 MB.
const maxAnswer = 16 << 20

// cutXML is what encoding/xml says of a text that ends too soon.
const cutXML = "unexpected EOF"

// unreadable is an answer with success that is not the one of its operation, or not all of it: what the request did is not
// known. Another try may be answered better.
type unreadable struct {
	operation string
	why       string
	foreign   bool // it is whole, and no S3 store's
}

func (e *unreadable) Error() string {
	return fmt.Sprintf("the answer to %s cannot be believed: %s", e.operation, e.why)
}

// RetryableError tells the SDK's retryer.
func (e *unreadable) RetryableError() bool { return !e.foreign }

// withWholeAnswers lets an operation succeed only when its answer is whole and of its sort. It looks at an answer before the
// SDK's look for errors with status 200 does, which takes what it cannot read for no error.
func withWholeAnswers(stack *middleware.Stack) error {
	const before = "S3:ProcessResponseFor200Error"
	if _, ok := stack.Deserialize.Get(before); !ok {
		return nil // an operation whose answer is an object's content
	}
	return stack.Deserialize.Insert(middleware.DeserializeMiddlewareFunc("Tombstone:WholeAnswer", wholeAnswer), before, middleware.After)
}

func wholeAnswer(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	out middleware.DeserializeOutput, metadata middleware.Metadata, err error,
) {
	out, metadata, err = next.HandleDeserialize(ctx, in)
	operation := awsmiddleware.GetOperationName(ctx)
	root, watched := roots[operation]
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !watched || !ok || response.StatusCode < 200 || response.StatusCode >= 300 {
		return out, metadata, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return out, metadata, &unreadable{operation: operation, why: err.Error()}
	}
	response.Body = replay{bytes.NewReader(body), response.Body}
	if bad := judge(operation, root, body); bad != nil {
		return out, metadata, bad
	}
	return out, metadata, nil
}

// judge tells what is wrong with the body of an answer; nil when it is whole. What is inside is the SDK's to read.
func judge(operation, root string, body []byte) error {
	text := strings.TrimSpace(string(body))
	name, self, err := rootOf(text)
	switch {
	case err == nil && name.Local == "Error":
		return nil // the SDK knows it
	case errors.Is(err, io.EOF):
		return &unreadable{operation: operation, why: "it is empty, or cut"}
	case err != nil || name.Local != root:
		return &unreadable{operation: operation, why: fmt.Sprintf("it is no %s but begins with %.40q", root, text), foreign: true}
	case !self && !strings.HasSuffix(text, "</"+strings.TrimPrefix(name.Space+":", ":")+root+">"):
		return &unreadable{operation: operation, why: "it is cut"}
	}
	return nil
}

// rootOf finds the first element: its prefix and name, and whether it is one without content.
func rootOf(text string) (name xml.Name, self bool, err error) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.RawToken()
		var cut *xml.SyntaxError
		if errors.As(err, &cut) && cut.Msg == cutXML {
			err = io.EOF
		}
		if err != nil {
			return name, false, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			return t.Name, strings.HasSuffix(strings.TrimSpace(text[:decoder.InputOffset()]), "/>"), nil
		case xml.CharData:
			if strings.TrimSpace(string(t)) != "" {
				return name, false, errors.New("text before the first element")
			}
		}
	}
}

// replay is a body that was read, from its start.
type replay struct {
	io.Reader
	io.Closer
}
