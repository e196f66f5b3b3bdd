package devstack_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/tombstone-project/tombstone/internal/devstack"
)

func start(t *testing.T, dir string) *devstack.Stack {
	t.Helper()
	s, err := devstack.Start(t.Context(), devstack.Config{Dir: dir})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return s
}

func stop(t *testing.T, s *devstack.Stack) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestAStoppedStackIsTakenUpAgainWithItsData(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	if err := s.CreateBuckets(t.Context(), []string{"assets", "scans"}); err != nil {
		t.Fatal(err)
	}
	write(t, s.Addresses())
	stop(t, s)

	again := start(t, dir)
	defer stop(t, again)
	if got, want := again.Addresses().Blobs.SecretKey, s.Addresses().Blobs.SecretKey; got != want {
		t.Errorf("secret key after the restart: %q, want %q", got, want)
	}
	if err := again.CreateBuckets(t.Context(), []string{"assets", "scans"}); err != nil {
		t.Errorf("buckets that are there already: %v", err)
	}
	read(t, again.Addresses())
	if _, err := os.Stat(filepath.Join(dir, "blobs", "objects", "assets", "a", "key.txt")); err != nil {
		t.Errorf("object as a file named after its key: %v", err)
	}
	for _, sub := range []string{"jetstream", "documents", "blobs"} {
		if _, err := os.Stat(filepath.Join(dir, sub)); err != nil {
			t.Errorf("folder of the data folder: %v", err)
		}
	}
}

func TestASecondStackOnAFolderIsRefusedNamingTheFirst(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir)
	defer stop(t, first)
	_, err := devstack.Start(t.Context(), devstack.Config{Dir: dir})
	var inUse *devstack.InUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() {
		t.Fatalf("second start: %v, want a refusal naming process %d", err, os.Getpid())
	}
}

func TestAStopGivesTheWorkingDirectoryBack(t *testing.T) {
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, t.TempDir()))
	if after, _ := os.Getwd(); after != before {
		t.Errorf("working directory: %s, want %s", after, before)
	}
}

func TestAnAddressInUseFailsTheStartAndLeavesNothing(t *testing.T) {
	for name, listen := range map[string]func(*devstack.Config, string){
		"nats":      func(c *devstack.Config, a string) { c.ListenNATS = a },
		"documents": func(c *devstack.Config, a string) { c.ListenDocuments = a },
		"blobs":     func(c *devstack.Config, a string) { c.ListenBlobs = a },
	} {
		t.Run(name, func(t *testing.T) {
			taken, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			c := devstack.Config{Dir: t.TempDir()}
			listen(&c, taken.Addr().String())
			if s, err := devstack.Start(t.Context(), c); err == nil {
				stop(t, s)
				t.Fatal("started on an address in use")
			}
			if err := taken.Close(); err != nil {
				t.Fatal(err)
			}
			s, err := devstack.Start(t.Context(), c)
			if err != nil {
				t.Fatalf("start once the address is free: %v", err)
			}
			stop(t, s)
		})
	}
}

func write(t *testing.T, a devstack.Addresses) {
	t.Helper()
	js, closeNATS := stream(t, a)
	defer closeNATS()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "kept", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	db, closeMongo := database(t, a)
	defer closeMongo()
	if _, err := db.Collection("kept").InsertOne(t.Context(), bson.M{"_id": "x"}); err != nil {
		t.Fatal(err)
	}
	_, err := objects(a).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("assets"), Key: aws.String("a/key.txt"),
		Body: bytes.NewReader([]byte("hello"))})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, a devstack.Addresses) {
	t.Helper()
	js, closeNATS := stream(t, a)
	defer closeNATS()
	kept, err := js.Stream(t.Context(), "KEPT")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := kept.GetMsg(t.Context(), 1); err != nil || string(m.Data) != "hello" {
		t.Errorf("message: %v, %v", m, err)
	}
	db, closeMongo := database(t, a)
	defer closeMongo()
	if n, err := db.Collection("kept").CountDocuments(t.Context(), bson.M{"_id": "x"}); n != 1 || err != nil {
		t.Errorf("documents: %d, %v", n, err)
	}
	o, err := objects(a).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("assets"), Key: aws.String("a/key.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(o.Body); err != nil || string(body) != "hello" || aws.ToString(o.VersionId) == "" {
		t.Errorf("object: %q version %v, %v", body, o.VersionId, err)
	}
}

func stream(t *testing.T, a devstack.Addresses) (jetstream.JetStream, func()) {
	t.Helper()
	nc, err := nats.Connect(a.NATS)
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js, nc.Close
}

func database(t *testing.T, a devstack.Addresses) (*mongo.Database, func()) {
	t.Helper()
	c, err := mongo.Connect(options.Client().ApplyURI(a.Documents))
	if err != nil {
		t.Fatal(err)
	}
	return c.Database(devstack.Database), func() { _ = c.Disconnect(context.Background()) }
}

func objects(a devstack.Addresses) *s3.Client {
	return s3.New(s3.Options{BaseEndpoint: &a.Blobs.Endpoint, Region: a.Blobs.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(a.Blobs.AccessKey, a.Blobs.SecretKey, "")})
}
