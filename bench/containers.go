package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tombstone-project/tombstone/internal/devstack"
	"github.com/tombstone-project/tombstone/test/containers"
)

// documentsDatabase is the database of documents on a server in a container.
const documentsDatabase = "bench"

// servers are stores in containers that this run has started, the same for all its repetitions: a graph on a JVM is slow
// after its start.
type servers struct {
	stack *containers.Stack
	dir   string            // of FerretDB's files
	env   map[string]string // settings of the product that name them
	pids  pids
}

// startServers starts them. Where this machine cannot run containers, the error wraps containers.ErrUnavailable.
func startServers(ctx context.Context) (*servers, error) {
	dir, err := os.MkdirTemp("", "tombstone-bench-documents-")
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "starting the stores in containers")
	c := &servers{dir: dir}
	if c.stack, err = containers.NewStack(ctx, dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	at := c.stack
	c.env = map[string]string{"TOMBSTONE_GRAPH_URI": at.Neo4j.URI, "TOMBSTONE_GRAPH_USER": at.Neo4j.User, "TOMBSTONE_GRAPH_PASSWORD": at.Neo4j.Password,
		"TOMBSTONE_NATS_URL": at.NATS, "TOMBSTONE_DOCUMENTS_URI": at.Mongo + "/" + documentsDatabase, "TOMBSTONE_BLOBS_ENDPOINT": at.S3.Endpoint,
		"TOMBSTONE_BLOBS_REGION": at.S3.Region, "AWS_ACCESS_KEY_ID": at.S3.AccessKey, "AWS_SECRET_ACCESS_KEY": at.S3.SecretKey}
	if c.pids, err = at.Processes(ctx); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

// index gives FerretDB the index by `_id` that MongoDB has of its own: for the floors and for the product.
func (c *servers) index(ctx context.Context, s *stores, scenes []*scene) error {
	if !c.stack.Ferret {
		return nil
	}
	return devstack.IndexFerret(ctx, s.documents, filepath.Clean(c.dir), collections(scenes))
}

func (c *servers) remove() error {
	return errors.Join(c.stack.Remove(), os.RemoveAll(c.dir))
}
