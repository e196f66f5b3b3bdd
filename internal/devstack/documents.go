package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Database is the database that the documents address names.
const Database = "tombstone"

// DocumentServer is an embedded FerretDB on SQLite: a server that speaks MongoDB's wire protocol.
type DocumentServer struct {
	dir    string // of its SQLite files
	host   string
	client *mongo.Client
	cancel context.CancelFunc
	done   chan struct{}
}

// ferretNew guards a package-level variable of FerretDB that its constructor writes.
var ferretNew sync.Mutex

// Documents starts a server that keeps one SQLite file a database in DIR/documents. Its telemetry is off.
func Documents(ctx context.Context, o Options) (*DocumentServer, error) {
	dir, err := filepath.Abs(filepath.Join(o.Dir, "documents"))
	if err != nil {
		return nil, fmt.Errorf("documents folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make documents folder: %w", err)
	}
	if err := repairDatabases(ctx, dir); err != nil {
		return nil, err
	}
	s, err := runFerret(dir, o)
	if err != nil {
		return nil, fmt.Errorf("start document server: %w", err)
	}
	if err := s.probe(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start document server: %w", err), s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func runFerret(dir string, o Options) (*DocumentServer, error) {
	host, port, err := listenAddress(o.Listen)
	if err != nil {
		return nil, err
	}
	// FerretDB loses hold of its files when it cannot listen, and panics when they are collected: look before.
	if _, err := freePort(host, port); err != nil {
		return nil, err
	}
	ferretNew.Lock()
	// A client that goes without a word is a warning to FerretDB; it is none to us.
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: net.JoinHostPort(host, strconv.Itoa(port))},
		Logger:    quiet(o.Logger, slog.LevelError),
		Handler:   "sqlite",
		SQLiteURL: (&url.URL{Scheme: "file", Path: dir + "/"}).String(),
	})
	ferretNew.Unlock()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &DocumentServer{dir: dir, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = f.Run(ctx) // always nil
	}()
	address, err := url.Parse(f.MongoDBURI())
	if err == nil {
		s.host = address.Host
		s.client, err = mongo.Connect(options.Client().ApplyURI(s.URI()).SetServerSelectionTimeout(startLimit))
	}
	if err != nil {
		cancel()
		<-s.done
		return nil, err
	}
	return s, nil
}

// probe writes and reads one document: the server's answer to a ping says nothing about its files.
func (s *DocumentServer) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	c := s.client.Database("admin").Collection("devstack")
	ready := bson.M{"_id": "started", "at": time.Now().UTC().Format(time.RFC3339Nano)}
	_, err := c.ReplaceOne(ctx, bson.M{"_id": "started"}, ready, options.Replace().SetUpsert(true))
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	var seen bson.M
	if err := c.FindOne(ctx, bson.M{"_id": "started"}).Decode(&seen); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if seen["at"] != ready["at"] {
		return fmt.Errorf("read %v after writing %v", seen["at"], ready["at"])
	}
	return nil
}

// URI is where clients connect, with the database.
func (s *DocumentServer) URI() string { return "mongodb://" + s.host + "/" + Database }

// Stop ends the server; clients that are still connected get a few seconds.
func (s *DocumentServer) Stop(ctx context.Context) error {
	_ = s.client.Disconnect(ctx) // it has nothing under way
	s.cancel()
	return await(ctx, s.done, "stop document server")
}
