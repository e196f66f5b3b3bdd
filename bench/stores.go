package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/internal/devstack"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

// The environment of the process that runs the embedded stores.
const (
	envDir         = "TOMBSTONE_BENCH_DIR"
	envCollections = "TOMBSTONE_BENCH_COLLECTIONS" // with commas between them
)

// serveStores runs the embedded stores until ctx ends.
func serveStores(ctx context.Context) error {
	s, err := devstack.Start(ctx, devstack.Config{Dir: os.Getenv(envDir), Logger: errorsOnly()})
	if err != nil {
		return err
	}
	if err := s.IndexDocuments(ctx, strings.Split(os.Getenv(envCollections), ",")); err != nil {
		return err
	}
	if err := announce(s.Addresses()); err != nil {
		return err
	}
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	return s.Stop(last)
}

// errorsOnly is the log of stores and services: what is merely slow to start is no news here.
func errorsOnly() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// stores are where everything is, with the benchmark's own clients.
type stores struct {
	env       map[string]string // settings of the product that name the stores
	dir       string            // for graphs in files; empty: the graph is a server's
	process   *child            // nil: the stores are others'
	documents *mongo.Database
	objects   *s3.Client
}

// openStores starts embedded stores in the folder, or connects to those in containers, or to those of the environment.
func openStores(ctx context.Context, o settings, dir string, scenes ...*scene) (*stores, error) {
	s := &stores{env: map[string]string{}}
	switch {
	case o.Stores == embedded:
		if err := s.embed(dir, scenes); err != nil {
			return nil, err
		}
	case o.servers != nil:
		s.env = o.servers.env
	}
	if err := s.connect(ctx, scenes); err != nil || o.servers == nil {
		return s, err
	}
	return s, o.servers.index(ctx, s, scenes)
}

// collections are all that FerretDB needs an index for.
func collections(scenes []*scene) (names []string) {
	for _, sc := range scenes {
		names = append(names, sc.collection, sc.ledger())
	}
	return names
}

func (s *stores) embed(dir string, scenes []*scene) (err error) {
	var at devstack.Addresses
	s.dir = dir
	s.process, err = startChild(roleStores, map[string]string{envDir: dir, envCollections: strings.Join(collections(scenes), ",")}, &at)
	s.env = map[string]string{"TOMBSTONE_NATS_URL": at.NATS, "TOMBSTONE_DOCUMENTS_URI": at.Documents, "TOMBSTONE_BLOBS_ENDPOINT": at.Blobs.Endpoint,
		"TOMBSTONE_BLOBS_REGION": at.Blobs.Region, "AWS_ACCESS_KEY_ID": at.Blobs.AccessKey, "AWS_SECRET_ACCESS_KEY": at.Blobs.SecretKey}
	return err
}

// setting is a setting of the stores.
func (s *stores) setting(name string) string {
	if value, ok := s.env[name]; ok {
		return value
	}
	return os.Getenv(name)
}

// connect opens the clients and makes each scene's bucket, with versions.
func (s *stores) connect(ctx context.Context, scenes []*scene) error {
	uri := s.setting("TOMBSTONE_DOCUMENTS_URI")
	u, err := url.Parse(uri)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return fmt.Errorf("TOMBSTONE_DOCUMENTS_URI=%q: mongodb://HOST/DATABASE is needed", uri)
	}
	c, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	s.documents = c.Database(strings.Trim(u.Path, "/"))
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} { // for the SDK's usual chain
		if err := os.Setenv(name, s.setting(name)); err != nil {
			return err
		}
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(s.setting("TOMBSTONE_BLOBS_REGION")))
	if err != nil {
		return err
	}
	s.objects = s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = true
		o.HTTPClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: objectLanes}}
		if endpoint := s.setting("TOMBSTONE_BLOBS_ENDPOINT"); endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	for _, sc := range scenes {
		if err := s.makeBucket(ctx, sc.bucket()); err != nil {
			return fmt.Errorf("make bucket %s: %w", sc.bucket(), err)
		}
	}
	return nil
}

func (s *stores) makeBucket(ctx context.Context, name string) error {
	if _, err := s.objects.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil {
		return err
	}
	_, err := s.objects.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String(name),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
	return err
}

// graphURI is the graph of a scene: a file of its own, or the server with labels of its own.
func (s *stores) graphURI(sc *scene) string {
	if s.dir != "" {
		return sqliteScheme + filepath.Join(s.dir, sc.namespace+".db")
	}
	return s.setting("TOMBSTONE_GRAPH_URI")
}

const sqliteScheme = "sqlite://"

// openGraph opens the graph of a scene for the benchmark itself.
func (s *stores) openGraph(ctx context.Context, sc *scene) (dependency.Graph, error) {
	uri := s.graphURI(sc)
	if path, ok := strings.CutPrefix(uri, sqliteScheme); ok {
		return sqlite.Open(path)
	}
	return neo4j.Open(ctx, neo4j.Config{URI: uri, User: s.setting("TOMBSTONE_GRAPH_USER"), Password: s.setting("TOMBSTONE_GRAPH_PASSWORD"),
		Database: s.setting("TOMBSTONE_GRAPH_DATABASE"), Names: sc.policy.Graph, Links: sc.policy.Links})
}

// close ends the clients and the processes.
func (s *stores) close(ctx context.Context) error {
	if s.documents != nil {
		_ = s.documents.Client().Disconnect(ctx) // nothing is under way
	}
	return s.process.stop()
}
