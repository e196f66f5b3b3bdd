package containers_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/test/containers"
)

func TestMain(m *testing.M) { containers.Main(m) }

// deadline is far beyond what any call here needs.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestNATSHasJetStreamThatSurvivesAKill(t *testing.T) {
	ctx := deadline(t)
	address, server := containers.OwnNATS(t)
	nc, err := nats.Connect(address, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, "s", []byte("kept")); err != nil {
		t.Fatal(err)
	}

	server.Kill(t)
	server.Start(t)

	s, err := js.Stream(ctx, "S")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetLastMsgForSubject(ctx, "s")
	if err != nil || string(m.Data) != "kept" {
		t.Fatalf("message after the kill: %v, %v", m, err)
	}
}

func TestARenewedServerIsEmptyAndOnTheSameAddress(t *testing.T) {
	ctx := deadline(t)
	address, server := containers.OwnNATS(t)
	nc, err := nats.Connect(address, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}

	server.Kill(t)
	server.Renew(t)

	if err := nc.FlushWithContext(ctx); err != nil { // connected again
		t.Fatal(err)
	}
	if _, err := js.Stream(ctx, "S"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Fatalf("stream after the renewal: %v, want none", err)
	}
}

func TestS3KeepsVersions(t *testing.T) {
	ctx := deadline(t)
	a := containers.S3(t)
	c := s3.New(s3.Options{
		BaseEndpoint: &a.Endpoint, Region: a.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(a.AccessKey, a.SecretKey, ""),
	})
	bucket := containers.Name(t)
	if _, err := c.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatal(err)
	}
	_, err := c.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket:                  &bucket,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"one", "two"} {
		_, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("k"), Body: strings.NewReader(body)})
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := c.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &bucket})
	if err != nil || len(l.Versions) != 2 {
		t.Fatalf("versions: %v, %v; want 2", l, err)
	}
}

func TestMongoGivesEachTestADatabase(t *testing.T) {
	ctx := deadline(t)
	first, second := containers.Mongo(t), containers.Mongo(t)
	if first == second {
		t.Fatalf("both got %s", first)
	}
	u, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mongo.Connect(options.Client().ApplyURI(first))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Disconnect(ctx) }()
	col := c.Database(strings.TrimPrefix(u.Path, "/")).Collection("c")
	if _, err := col.InsertOne(ctx, bson.M{"_id": "a"}); err != nil {
		t.Fatal(err)
	}
	if n, err := col.CountDocuments(ctx, bson.M{}); n != 1 || err != nil {
		t.Fatalf("documents: %d, %v; want 1", n, err)
	}
}

func TestNeo4jComesBackOnTheSameAddressAfterStopAndPause(t *testing.T) {
	ctx := deadline(t)
	a, server := containers.OwnNeo4j(t)
	d, err := neo4j.NewDriverWithContext(a.URI, neo4j.BasicAuth(a.User, a.Password, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close(ctx) }()
	if err := d.VerifyConnectivity(ctx); err != nil {
		t.Fatal(err)
	}

	server.Stop(t)
	if err := d.VerifyConnectivity(ctx); err == nil {
		t.Fatal("a stopped server answers")
	}
	server.Start(t)
	if err := d.VerifyConnectivity(ctx); err != nil {
		t.Fatal(err)
	}

	server.Pause(t)
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := d.VerifyConnectivity(short); err == nil {
		t.Fatal("a paused server answers")
	}
	server.Unpause(t)
	if err := d.VerifyConnectivity(ctx); err != nil {
		t.Fatal(err)
	}
	server.Pause(t) // a paused server is removed too
}
