package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// Config says where a Stack lives.
type Config struct {
	// Dir is the data folder; it is made when it is missing. Required.
	Dir string
	// The listen addresses ("127.0.0.1:4222"); empty: a free loopback port.
	ListenNATS      string
	ListenDocuments string
	ListenBlobs     string
	// Logger gets the servers' warnings and errors; nil: they are dropped.
	Logger *slog.Logger
}

// Options say where one server lives when it is started alone. Dir is the data folder of all servers: each keeps its
// own folder in it.
type Options struct {
	Dir    string
	Listen string // empty: a free loopback port
	Logger *slog.Logger
}

// Addresses are where clients find the servers, as full URLs.
type Addresses struct {
	NATS      string      `json:"nats"`
	Documents string      `json:"documents"` // with its database
	Blobs     BlobAddress `json:"blobs"`
}

// BlobAddress is what an S3 client needs.
type BlobAddress struct {
	Endpoint  string `json:"endpoint"`
	Region    string `json:"region"`
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

// Stack is the three servers on one data folder.
type Stack struct {
	nats      *NATSServer
	documents *DocumentServer
	blobs     *BlobServer
	lock      *lock
}

// Start locks the folder and starts all servers; it returns when each has carried out a real request. A folder that
// another process holds gives *InUseError. After an error nothing of it runs.
func Start(ctx context.Context, c Config) (*Stack, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	s := &Stack{}
	if s.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	if err := s.start(ctx, dir, c); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context, dir string, c Config) (err error) {
	if s.nats, err = NATS(ctx, Options{Dir: dir, Listen: c.ListenNATS, Logger: c.Logger}); err != nil {
		return err
	}
	if s.documents, err = Documents(ctx, Options{Dir: dir, Listen: c.ListenDocuments, Logger: c.Logger}); err != nil {
		return err
	}
	s.blobs, err = Blobs(ctx, Options{Dir: dir, Listen: c.ListenBlobs, Logger: c.Logger})
	return err
}

// Addresses tells where the servers listen.
func (s *Stack) Addresses() Addresses {
	return Addresses{NATS: s.nats.URL(), Documents: s.documents.URI(), Blobs: s.blobs.Address()}
}

// IndexDocuments makes look-ups by `_id` fast in these collections, as DocumentServer.Index.
func (s *Stack) IndexDocuments(ctx context.Context, collections []string) error {
	return s.documents.Index(ctx, collections)
}

// CreateBuckets makes these buckets, with versions, as BlobServer.CreateBuckets.
func (s *Stack) CreateBuckets(ctx context.Context, names []string) error {
	return s.blobs.CreateBuckets(ctx, names)
}

// Stop ends the servers in reverse order and unlocks the folder. Clients should be closed before: a server waits some
// seconds for those that are not. It returns early when ctx ends.
func (s *Stack) Stop(ctx context.Context) error {
	var errs []error
	if s.blobs != nil {
		errs = append(errs, s.blobs.Stop(ctx))
	}
	if s.documents != nil {
		errs = append(errs, s.documents.Stop(ctx))
	}
	if s.nats != nil {
		errs = append(errs, s.nats.Stop(ctx))
	}
	return errors.Join(append(errs, s.lock.release())...)
}
