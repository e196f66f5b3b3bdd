package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"
)

const (
	// objectLanes is how many requests to the object store are under way while it is filled.
	objectLanes = 16
	// documentBatch is how many documents go with one command.
	documentBatch = 500
)

// fill writes documents and objects, past the product, as any other program would.
func (s *stores) fill(ctx context.Context, sc *scene, assets []asset) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.fillDocuments(ctx, sc, assets) })
	g.Go(func() error { return s.fillObjects(ctx, sc, assets) })
	return g.Wait()
}

func (s *stores) fillDocuments(ctx context.Context, sc *scene, assets []asset) error {
	for chunk := range slices.Chunk(assets, documentBatch) {
		var documents []any
		for _, a := range chunk {
			if a.document == "" {
				return nil // none of the layout's assets has one
			}
			documents = append(documents, bson.D{{Key: "_id", Value: a.document}, {Key: "generation", Value: a.generation}, {Key: "text", Value: "of " + a.id}})
		}
		if _, err := s.documents.Collection(sc.collection).InsertMany(ctx, documents); err != nil {
			return fmt.Errorf("write documents: %w", err)
		}
	}
	return nil
}

func (s *stores) fillObjects(ctx context.Context, sc *scene, assets []asset) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(objectLanes)
	bucket := sc.bucket()
	for _, a := range assets {
		g.Go(func() error {
			for _, key := range a.objects {
				_, err := s.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader([]byte("of " + a.id))})
				if err != nil {
					return fmt.Errorf("write object: %w", err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}
