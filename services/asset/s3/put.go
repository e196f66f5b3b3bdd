package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Put implements asset.Blobs. A body that cannot be read twice is held in memory: it is signed, and sent again after a fault.
func (s *Store) Put(ctx context.Context, bucket, key string, body io.Reader, size int64) error {
	if key == "" {
		return asset.ErrEmptyKey
	}
	whole, ok := body.(io.ReadSeeker)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(body, size+1))
		if err != nil {
			return fmt.Errorf("read the object to put: %w", err)
		}
		if int64(len(data)) != size {
			return fmt.Errorf("read the object to put: not %d bytes", size)
		}
		whole = bytes.NewReader(data)
	}
	err := s.request(ctx, func(ctx context.Context) error {
		if _, err := whole.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read the object to put: %w", err)
		}
		_, err := s.client(bucket).PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: whole, ContentLength: &size},
			s3.WithAPIOptions(withContentMD5))
		return err
	})
	if err != nil {
		return fault(fmt.Sprintf("put %q", key), bucket, err)
	}
	return nil
}

// withContentMD5 sends the checksum that every store understands, AWS too, in place of the SDK's newer ones, which
// compatible stores refuse or do not take for the required one.
func withContentMD5(stack *middleware.Stack) error {
	_, _ = stack.Initialize.Remove("AWSChecksum:SetupInputContext") // absent where the operation sends none
	return smithyhttp.AddContentChecksumMiddleware(stack)
}
