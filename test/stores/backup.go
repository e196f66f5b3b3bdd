package stores

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// DocumentsBackup is the whole database, the ledger included, by collection.
type DocumentsBackup map[string][]bson.Raw

// BackupDocuments reads it.
func (s *Stores) BackupDocuments(ctx context.Context) (DocumentsBackup, error) {
	names, err := s.documents.ListCollectionNames(ctx, bson.M{})
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	backup := DocumentsBackup{}
	for _, name := range names {
		cur, err := s.documents.Collection(name).Find(ctx, bson.M{})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		var all []bson.Raw
		if err := cur.All(ctx, &all); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		backup[name] = all
	}
	return backup, nil
}

// RestoreDocuments puts the backup in the place of all there is.
func (s *Stores) RestoreDocuments(ctx context.Context, backup DocumentsBackup) error {
	names, err := s.documents.ListCollectionNames(ctx, bson.M{})
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	for _, name := range names {
		if _, err := s.documents.Collection(name).DeleteMany(ctx, bson.M{}); err != nil {
			return fmt.Errorf("empty %s: %w", name, err)
		}
	}
	for name, all := range backup {
		if len(all) == 0 {
			continue
		}
		if _, err := s.documents.Collection(name).InsertMany(ctx, all); err != nil {
			return fmt.Errorf("fill %s: %w", name, err)
		}
	}
	return nil
}

// ObjectsBackup is what each key of the bucket holds, its versions from the oldest on.
type ObjectsBackup map[string][][]byte

// BackupObjects reads it.
func (s *Stores) BackupObjects(ctx context.Context) (ObjectsBackup, error) {
	versions, _, err := s.versions(ctx)
	if err != nil {
		return nil, err
	}
	slices.Reverse(versions) // a listing has the newest of a key first
	backup := ObjectsBackup{}
	for _, v := range versions {
		got, err := s.objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: v.Key, VersionId: v.VersionId})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", *v.Key, err)
		}
		data, err := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", *v.Key, err)
		}
		backup[*v.Key] = append(backup[*v.Key], data)
	}
	return backup, nil
}

// RestoreObjects puts the backup in the place of all there is, under new version ids.
func (s *Stores) RestoreObjects(ctx context.Context, backup ObjectsBackup) error {
	versions, markers, err := s.versions(ctx)
	if err != nil {
		return err
	}
	all := map[[2]string]bool{}
	for _, v := range versions {
		all[[2]string{aws.ToString(v.Key), aws.ToString(v.VersionId)}] = true
	}
	for _, m := range markers {
		all[[2]string{aws.ToString(m.Key), aws.ToString(m.VersionId)}] = true
	}
	for v := range all {
		if _, err := s.objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Bucket, Key: &v[0], VersionId: &v[1]}); err != nil {
			return fmt.Errorf("remove %s: %w", strings.Join(v[:], " "), err)
		}
	}
	for key, contents := range backup {
		for _, data := range contents {
			if _, err := s.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.Bucket, Key: &key, Body: bytes.NewReader(data)}); err != nil {
				return fmt.Errorf("write %s: %w", key, err)
			}
		}
	}
	return nil
}

// versions lists the bucket.
func (s *Stores) versions(ctx context.Context) (versions []types.ObjectVersion, markers []types.DeleteMarkerEntry, err error) {
	pages := s3.NewListObjectVersionsPaginator(s.objects, &s3.ListObjectVersionsInput{Bucket: &s.Bucket})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("list versions: %w", err)
		}
		versions, markers = append(versions, p.Versions...), append(markers, p.DeleteMarkers...)
	}
	return versions, markers, nil
}
