// Package stores is where the tests' installations keep everything, and the tests' own way to look at it, past the product.
package stores

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/internal/tlstest"
	"github.com/tombstone-project/tombstone/test/containers"
)

// Stores are where one test's installation keeps everything. Namespace, graph label, database and bucket are the test's own.
type Stores struct {
	GraphURI, GraphUser, GraphPassword string
	GraphLabel                         string
	NATS                               string
	// Users says that the broker knows the users of deploy/nats.conf; each service is its own then.
	Users bool
	// Settings are further ones, by their names.
	Settings map[string]string
	// MessageKey signs the messages between the services, when it is set.
	MessageKey                       string
	DocumentsURI                     string
	Endpoint, Region, Access, Secret string
	Namespace                        string
	Bucket                           string
	// TLS is how the test's own clients speak to stores whose addresses ask for TLS; nil: as they do by themselves.
	TLS *tls.Config

	documents *mongo.Database
	objects   *s3.Client
}

// Broker is the broker's address as a role uses it.
func (s *Stores) Broker(t *testing.T, role string) string {
	t.Helper()
	if !s.Users || role == "all" {
		return s.NATS
	}
	return containers.BrokerUser(t, s.NATS, role)
}

// Containers gives real servers, which other tests use too; the test is skipped where there is no Docker, and fails there
// with CI=true. An installation needs a graph for itself, and there is one: it is emptied, so only one test at a time may
// use these stores.
func Containers(t *testing.T) *Stores {
	t.Helper()
	g, b, name := containers.Neo4j(t), containers.S3(t), containers.Name(t)
	emptyGraph(t, g)
	s := &Stores{GraphURI: g.URI, GraphUser: g.User, GraphPassword: g.Password, GraphLabel: strings.ReplaceAll(name, "-", "_"), NATS: containers.NATS(t), Users: true,
		DocumentsURI: containers.Mongo(t), Endpoint: b.Endpoint, Region: b.Region, Access: b.AccessKey, Secret: b.SecretKey,
		Namespace: name, Bucket: name}
	s.Open(t)
	return s
}

// Secured gives servers of this test's own, each of which speaks TLS itself, with a certificate of the authority, and
// nothing else.
func Secured(t *testing.T, a *tlstest.Authority) *Stores {
	t.Helper()
	cert, key := a.Pair(2)
	c := containers.Certificate{Cert: cert, Key: key, Authority: a.File}
	g, b, name := containers.SecureNeo4j(t, c), containers.SecureS3(t, c), containers.Name(t)
	s := &Stores{GraphURI: g.URI, GraphUser: g.User, GraphPassword: g.Password, GraphLabel: strings.ReplaceAll(name, "-", "_"), NATS: containers.SecureNATS(t, c),
		Users: true, DocumentsURI: containers.SecureMongo(t, c), Endpoint: b.Endpoint, Region: b.Region, Access: b.AccessKey, Secret: b.SecretKey,
		Namespace: name, Bucket: name, TLS: a.Client()}
	s.Open(t)
	return s
}

func emptyGraph(t *testing.T, g containers.Neo4jAddr) {
	t.Helper()
	d, err := neo4j.NewDriverWithContext(g.URI, neo4j.BasicAuth(g.User, g.Password, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(context.WithoutCancel(t.Context()))
	if _, err := neo4j.ExecuteQuery(t.Context(), d, "MATCH (n) DETACH DELETE n", nil, neo4j.EagerResultTransformer); err != nil {
		t.Fatalf("empty the graph: %v", err)
	}
}

// Open connects the test's own clients and makes the bucket, with versions.
func (s *Stores) Open(t *testing.T) {
	t.Helper()
	u, err := url.Parse(s.DocumentsURI)
	if err != nil {
		t.Fatal(err)
	}
	documents := options.Client().ApplyURI(s.DocumentsURI)
	if s.TLS != nil {
		documents.SetTLSConfig(s.TLS)
	}
	c, err := mongo.Connect(documents)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) }) // the test is over
	s.documents = c.Database(strings.Trim(u.Path, "/"))
	transport := &http.Transport{TLSClientConfig: s.TLS}
	t.Cleanup(transport.CloseIdleConnections)
	s.objects = s3.New(s3.Options{BaseEndpoint: &s.Endpoint, Region: s.Region, UsePathStyle: true, HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider(s.Access, s.Secret, "")})
	s.CreateBucket(t, s.Bucket)
}

// CreateBucket makes a bucket, with versions.
func (s *Stores) CreateBucket(t *testing.T, name string) {
	t.Helper()
	if _, err := s.objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.objects.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &name,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
		t.Fatal(err)
	}
}

// PutObject writes an object as any other program would, and gives what a snapshot has of it from now on.
func (s *Stores) PutObject(ctx context.Context, key, data string) (Snapshot, error) {
	out, err := s.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.Bucket, Key: &key, Body: bytes.NewReader([]byte(data))})
	if err != nil {
		return nil, fmt.Errorf("put object %s: %w", key, err)
	}
	return Snapshot{versionPlace(key, aws.ToString(out.VersionId)): aws.ToString(out.ETag)}, nil
}

// Hide puts a delete marker above an object.
func (s *Stores) Hide(ctx context.Context, key string) error {
	if _, err := s.objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Bucket, Key: &key}); err != nil {
		return fmt.Errorf("hide object %s: %w", key, err)
	}
	return nil
}

// BeginUpload begins an upload in pieces that nobody finishes.
func (s *Stores) BeginUpload(ctx context.Context, key string) error {
	if _, err := s.objects.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &s.Bucket, Key: &key}); err != nil {
		return fmt.Errorf("begin upload %s: %w", key, err)
	}
	return nil
}

// PutDocument writes a document as any other program would.
func (s *Stores) PutDocument(ctx context.Context, collection string, document any) error {
	if _, err := s.documents.Collection(collection).InsertOne(ctx, document); err != nil {
		return fmt.Errorf("put a document into %s: %w", collection, err)
	}
	return nil
}

// Cypher runs a statement on the graph as any other program would, and gives its records. It is for a graph on Neo4j.
func (s *Stores) Cypher(t *testing.T, text string, params map[string]any) []*neo4j.Record {
	t.Helper()
	d, err := neo4j.NewDriverWithContext(s.GraphURI, neo4j.BasicAuth(s.GraphUser, s.GraphPassword, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close(context.WithoutCancel(t.Context()))
	result, err := neo4j.ExecuteQuery(t.Context(), d, text, params, neo4j.EagerResultTransformer)
	if err != nil {
		t.Fatalf("run %s: %v", text, err)
	}
	return result.Records
}

// Document gives what a snapshot has of one document; empty when it is not there.
func (s *Stores) Document(ctx context.Context, collection, id string) (Snapshot, error) {
	raw, err := s.documents.Collection(collection).FindOne(ctx, bson.M{"_id": id}).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return Snapshot{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", id, err)
	}
	return Snapshot{documentPlace(collection, id): hash(raw)}, nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Presign gives an address of an object's current version, by that version, valid for an hour.
func (s *Stores) Presign(ctx context.Context, key string) (string, error) {
	head, err := s.objects.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.Bucket, Key: &key})
	if err != nil {
		return "", fmt.Errorf("look at object %s: %w", key, err)
	}
	get := &s3.GetObjectInput{Bucket: &s.Bucket, Key: &key, VersionId: head.VersionId}
	signed, err := s3.NewPresignClient(s.objects).PresignGetObject(ctx, get, s3.WithPresignExpires(time.Hour))
	if err != nil {
		return "", fmt.Errorf("presign object %s: %w", key, err)
	}
	return signed.URL, nil
}
