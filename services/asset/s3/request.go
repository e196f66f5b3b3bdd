package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// request gives one request its timeout. One whose credentials the store no longer takes is made once more with fresh ones:
// they may have been renewed before we thought that they end.
func (s *Store) request(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := do(ctx)
	switch code(err) {
	case "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId":
		if kept, ok := s.options.Credentials.(*aws.CredentialsCache); ok {
			kept.Invalidate()
			return do(ctx)
		}
	}
	return err
}
