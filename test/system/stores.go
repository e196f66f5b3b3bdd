// Package system runs whole installations in tests, on embedded stores and on real ones in containers, and looks at what
// the stores hold with their own clients, past the product.
package system

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/test/containers"
)

// Stores are where one test's installation keeps everything. Namespace, database and bucket are the test's own.
type Stores struct {
	GraphURI, GraphUser, GraphPassword string
	GraphLabel                         string
	NATS                               string
	DocumentsURI                       string
	Endpoint, Region, Access, Secret   string
	Namespace                          string
	Bucket                             string

	documents *mongo.Database
	objects   *s3.Client
}

// Each runs a test on embedded stores, and on containers where Docker answers.
func Each(t *testing.T, f func(t *testing.T, s *Stores)) {
	t.Run("embedded", func(t *testing.T) { f(t, Embedded(t)) })
	t.Run("containers", func(t *testing.T) { f(t, Containers(t)) })
}

// Embedded gives stores of this process: JetStream, FerretDB and versitygw, and SQLite for the graph.
func Embedded(t *testing.T) *Stores {
	t.Helper()
	name := devtest.Name("t")
	b := devtest.Blobs(t).Address()
	docs, err := url.Parse(devtest.Documents(t).URI())
	if err != nil {
		t.Fatal(err)
	}
	docs.Path = "/" + name
	return (&Stores{GraphURI: "sqlite://" + t.TempDir() + "/graph.db", GraphLabel: "Asset", NATS: devtest.NATS(t).URL(), DocumentsURI: docs.String(),
		Endpoint: b.Endpoint, Region: b.Region, Access: b.AccessKey, Secret: b.SecretKey, Namespace: name, Bucket: name}).open(t)
}

// Containers gives real servers; the test is skipped where there is no Docker, and fails there with CI=true.
func Containers(t *testing.T) *Stores {
	t.Helper()
	g, b, name := containers.Neo4j(t), containers.S3(t), containers.Name(t)
	return (&Stores{GraphURI: g.URI, GraphUser: g.User, GraphPassword: g.Password, GraphLabel: strings.ReplaceAll(name, "-", "_"), NATS: containers.NATS(t),
		DocumentsURI: containers.Mongo(t), Endpoint: b.Endpoint, Region: b.Region, Access: b.AccessKey, Secret: b.SecretKey,
		Namespace: name, Bucket: name}).open(t)
}

// open connects the test's own clients and makes the bucket, with versions.
func (s *Stores) open(t *testing.T) *Stores {
	t.Helper()
	u, err := url.Parse(s.DocumentsURI)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mongo.Connect(options.Client().ApplyURI(s.DocumentsURI))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) }) // the test is over
	s.documents = c.Database(strings.Trim(u.Path, "/"))
	s.objects = s3.New(s3.Options{BaseEndpoint: &s.Endpoint, Region: s.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.Access, s.Secret, "")})
	if _, err := s.objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &s.Bucket}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.objects.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &s.Bucket,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// PutObject writes an object as any other program would.
func (s *Stores) PutObject(t *testing.T, key, data string) {
	t.Helper()
	if _, err := s.objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &s.Bucket, Key: &key, Body: bytes.NewReader([]byte(data))}); err != nil {
		t.Fatalf("put object %s: %v", key, err)
	}
}

// Snapshot is everything outside the graph: each document, object version, delete marker and unfinished upload, by place,
// with a hash or version of what it holds. The product's own collections are left out.
type Snapshot map[string]string

// Snapshot reads the stores.
func (s *Stores) Snapshot(t *testing.T) Snapshot {
	t.Helper()
	snap := Snapshot{}
	if err := errors.Join(s.readDocuments(t.Context(), snap), s.readObjects(t.Context(), snap)); err != nil {
		t.Fatalf("read the stores: %v", err)
	}
	return snap
}

// With gives the places that hold the text, in a new snapshot.
func (s Snapshot) With(text string) Snapshot { return s.where(text, true) }

// Without gives the other places.
func (s Snapshot) Without(text string) Snapshot { return s.where(text, false) }

func (s Snapshot) where(text string, want bool) Snapshot {
	out := Snapshot{}
	for place, what := range s {
		if strings.Contains(place, text) == want {
			out[place] = what
		}
	}
	return out
}

func (s *Stores) readDocuments(ctx context.Context, snap Snapshot) error {
	names, err := s.documents.ListCollectionNames(ctx, bson.M{})
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, s.Namespace+"_") {
			continue
		}
		cur, err := s.documents.Collection(name).Find(ctx, bson.M{})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for cur.Next(ctx) {
			sum := sha256.Sum256(cur.Current)
			id, _ := cur.Current.Lookup("_id").StringValueOK()
			snap["document "+name+" "+id] = hex.EncodeToString(sum[:8])
		}
		if err := cur.Err(); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return nil
}

func (s *Stores) readObjects(ctx context.Context, snap Snapshot) error {
	pages := s3.NewListObjectVersionsPaginator(s.objects, &s3.ListObjectVersionsInput{Bucket: &s.Bucket})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list versions: %w", err)
		}
		for _, v := range p.Versions {
			snap["object "+aws.ToString(v.Key)+" "+aws.ToString(v.VersionId)] = aws.ToString(v.ETag)
		}
		for _, m := range p.DeleteMarkers {
			snap["marker "+aws.ToString(m.Key)+" "+aws.ToString(m.VersionId)] = ""
		}
	}
	up, err := s.objects.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &s.Bucket})
	if err != nil {
		return fmt.Errorf("list uploads: %w", err)
	}
	for _, u := range up.Uploads {
		snap["upload "+aws.ToString(u.Key)+" "+aws.ToString(u.UploadId)] = ""
	}
	return nil
}
