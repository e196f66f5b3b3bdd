package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	// bareBatch is how many nodes go with one transaction, and how many documents and objects with one call.
	bareBatch = 1000
	// bareLanes is how many calls of DeleteObjects are under way: a store that deletes the keys of one call one after the
	// other is kept busy so.
	bareLanes = 4
)

// floor is the bare way.
type floor struct {
	stores *stores
	scene  *scene
	graph  dependency.Graph
}

// openFloor opens the graph of a scene, ready for its first node.
func openFloor(ctx context.Context, s *stores, sc *scene) (*floor, error) {
	graph, err := s.openGraph(ctx, sc)
	if err != nil {
		return nil, err
	}
	if err := graph.Prepare(ctx); err != nil {
		return nil, errors.Join(err, graph.Close(ctx))
	}
	return &floor{stores: s, scene: sc, graph: graph}, nil
}

// fill makes live assets with all their parts.
func (f *floor) fill(ctx context.Context, ids []string) ([]asset, error) {
	assets, err := f.nodes(ctx, ids)
	if err != nil {
		return nil, err
	}
	return assets, f.stores.fill(ctx, f.scene, assets)
}

// nodes makes live assets in the graph alone.
func (f *floor) nodes(ctx context.Context, ids []string) ([]asset, error) {
	assets, err := f.scene.assets(ids)
	if err != nil {
		return nil, err
	}
	return assets, f.save(ctx, assets, dependency.Live)
}

// save writes the nodes' status.
func (f *floor) save(ctx context.Context, assets []asset, status dependency.Status) error {
	for chunk := range slices.Chunk(assets, bareBatch) {
		nodes := make([]dependency.Node, len(chunk))
		for i, a := range chunk {
			nodes[i] = dependency.Node{ID: a.id, Kind: "mesh", Owner: owner, Generation: a.generation, Status: status}
		}
		if err := f.graph.Update(ctx, func(tx dependency.Tx) error { return tx.SaveNodes(ctx, nodes) }); err != nil {
			return fmt.Errorf("write nodes: %w", err)
		}
	}
	return nil
}

// erase deletes the assets: the three kinds of stores at the same time.
func (f *floor) erase(ctx context.Context, assets []asset) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return f.save(ctx, assets, dependency.Deleted) })
	g.Go(func() error { return f.eraseDocuments(ctx, assets) })
	g.Go(func() error { return f.eraseObjects(ctx, keys(assets)) })
	return g.Wait()
}

func (f *floor) eraseDocuments(ctx context.Context, assets []asset) error {
	for chunk := range slices.Chunk(assets, bareBatch) {
		operations := make([]mongo.WriteModel, len(chunk))
		for i, a := range chunk {
			operations[i] = mongo.NewDeleteOneModel().SetFilter(bson.D{{Key: "_id", Value: a.document}})
		}
		if _, err := f.stores.documents.Collection(f.scene.collection).BulkWrite(ctx, operations, options.BulkWrite().SetOrdered(false)); err != nil {
			return fmt.Errorf("delete documents: %w", err)
		}
	}
	return nil
}

// eraseObjects lists the bucket once and deletes what belongs to the assets.
func (f *floor) eraseObjects(ctx context.Context, wanted map[string]bool) error {
	found, err := f.belonging(ctx, wanted)
	if err != nil {
		return err
	}
	return f.deleteFound(ctx, found)
}

// belonging lists the bucket and gives what has one of the keys.
func (f *floor) belonging(ctx context.Context, wanted map[string]bool) ([]objectVersion, error) {
	found, err := f.stores.versions(ctx, f.scene)
	return slices.DeleteFunc(found, func(v objectVersion) bool { return !wanted[v.key] }), err
}

func (f *floor) deleteFound(ctx context.Context, found []objectVersion) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(bareLanes)
	for chunk := range slices.Chunk(found, bareBatch) {
		g.Go(func() error { return f.stores.deleteObjects(ctx, f.scene.bucket(), chunk) })
	}
	return g.Wait()
}

func (s *stores) deleteObjects(ctx context.Context, bucket string, versions []objectVersion) error {
	objects := make([]types.ObjectIdentifier, len(versions))
	for i, v := range versions {
		objects[i] = types.ObjectIdentifier{Key: &v.key, VersionId: &v.id}
	}
	out, err := s.objects.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)}})
	if err != nil {
		return fmt.Errorf("delete objects: %w", err)
	}
	for _, e := range out.Errors {
		return fmt.Errorf("delete object %q: %s %s", aws.ToString(e.Key), aws.ToString(e.Code), aws.ToString(e.Message))
	}
	return nil
}
