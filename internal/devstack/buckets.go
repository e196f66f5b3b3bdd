package devstack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// loadAccount reads the server's account, or makes one and writes it. A file cut short by a kill is written anew: nothing
// in the folder depends on the keys.
func loadAccount(file string) (BlobAddress, error) {
	var a BlobAddress
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return a, fmt.Errorf("read account: %w", err)
	}
	if err == nil && json.Unmarshal(data, &a) == nil && a.AccessKey != "" && a.SecretKey != "" {
		return a, nil
	}
	a = BlobAddress{Region: region, AccessKey: "tombstone", SecretKey: rand.Text()}
	data, err = json.Marshal(a)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return a, fmt.Errorf("write account: %w", err)
	}
	return a, nil
}

// probe carries out a signed request that reads the folder, and keeps the client.
func (s *BlobServer) probe(ctx context.Context) error {
	s.client = s3.New(s3.Options{
		HTTPClient:   s.http,
		BaseEndpoint: aws.String(s.address.Endpoint),
		Region:       s.address.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(s.address.AccessKey, s.address.SecretKey, ""),
		UsePathStyle: true,
	})
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if _, err := s.client.ListBuckets(ctx, &s3.ListBucketsInput{}); err != nil {
		return fmt.Errorf("list buckets: %w", err)
	}
	return nil
}

// CreateBuckets makes the buckets that are missing and turns on versions in each.
func (s *BlobServer) CreateBuckets(ctx context.Context, names []string) error {
	for _, name := range names {
		_, err := s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name})
		var mine *types.BucketAlreadyOwnedByYou
		if err != nil && !errors.As(err, &mine) {
			return fmt.Errorf("create bucket %s: %w", name, err)
		}
		_, err = s.client.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: &name,
			VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
		if err != nil {
			return fmt.Errorf("turn on versions of bucket %s: %w", name, err)
		}
	}
	return nil
}
