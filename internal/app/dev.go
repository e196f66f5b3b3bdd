//go:build !nodev

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/tombstone-project/tombstone/examples/mesh"
	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/internal/devstack"
	"github.com/tombstone-project/tombstone/policy"
)

// DevOptions are the flags of `tombstone dev`. The settings that name no store come from Config.
type DevOptions struct {
	Config config.Config
	// Data is the data folder; empty: a temporary one, removed at the end.
	Data            string
	ListenNATS      string
	ListenDocuments string
	ListenBlobs     string
	Info            Info
	Log             *slog.Logger
	// Ready is called once everything answers; when it returns an error, the process stops with it. May be nil.
	Ready func(ctx context.Context, d Running) error
}

// Running is a `dev` that answers.
type Running struct {
	Addresses Addresses
	Policy    *policy.Policy
	// Put writes an object as any other program would.
	Objects Objects
}

// Addresses is what addresses.json holds.
type Addresses struct {
	HTTP      string               `json:"http"`
	NATS      string               `json:"nats"`
	Documents string               `json:"documents"`
	Blobs     devstack.BlobAddress `json:"blobs"`
	Graph     string               `json:"graph"`
}

const addressesFile = "addresses.json"

// Dev runs both services on embedded stores in one process until ctx ends.
func Dev(ctx context.Context, o DevOptions) (err error) {
	p, err := devPolicy(o.Config.Policy)
	if err != nil {
		return err
	}
	if p, err = namespaced(o.Config, p); err != nil {
		return err
	}
	dir, clean, err := dataFolder(o.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean()) }()
	listener, err := listen(o.Config.Listen, dir)
	if err != nil {
		return err
	}
	defer listener.Close() // closed by the server already, unless we never got there
	stack, err := devstack.Start(ctx, devstack.Config{Dir: dir, ListenNATS: o.ListenNATS, ListenDocuments: o.ListenDocuments,
		ListenBlobs: o.ListenBlobs, Logger: o.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopStack(ctx, stack)) }()
	if err := stack.CreateBuckets(ctx, p.Buckets()); err != nil {
		return err
	}
	collections := append(p.Collections(), o.Config.Namespace+"_erasures")
	if err := stack.IndexDocuments(ctx, collections); err != nil {
		return err
	}
	return runDev(ctx, o, p, stack, dir, listener)
}

// listen takes the address of HTTP. Where it is taken, a process on the same folder is the likely holder, and named first.
func listen(address, dir string) (net.Listener, error) {
	listener, err := listenHTTP(address)
	if err != nil {
		return nil, cmp.Or(devstack.InUse(dir), err)
	}
	return listener, nil
}

func stopStack(ctx context.Context, stack *devstack.Stack) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	return stack.Stop(last)
}

// devPolicy reads the policy, or takes the one of the mesh library.
func devPolicy(path string) (*policy.Policy, error) {
	if path != "" {
		return policy.Load(path)
	}
	return policy.Parse("examples/mesh/policy.yaml", mesh.Policy)
}

// dataFolder is the folder to use, and what to do with it at the end.
func dataFolder(given string) (dir string, clean func() error, err error) {
	if given != "" {
		if err := os.MkdirAll(given, 0o700); err != nil {
			return "", nil, fmt.Errorf("data folder: %w", err)
		}
		dir, err = filepath.Abs(given)
		return dir, func() error { return nil }, err
	}
	dir, err = os.MkdirTemp("", "tombstone-")
	if err != nil {
		return "", nil, fmt.Errorf("temporary data folder: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// runDev points the configuration at the embedded stores and runs both services on them.
func runDev(ctx context.Context, o DevOptions, p *policy.Policy, stack *devstack.Stack, dir string, listener net.Listener) error {
	at := stack.Addresses()
	cfg := o.Config
	cfg.GraphURI = config.Secret(sqliteScheme + filepath.Join(dir, "graph.db"))
	cfg.NATSURL, cfg.DocumentsURI = config.Secret(at.NATS), config.Secret(at.Documents)
	cfg.BlobsEndpoint, cfg.BlobsRegion = at.Blobs.Endpoint, at.Blobs.Region
	proc, err := assemble(ctx, cfg, All, p, o.Info, o.Log, blobKeys{at.Blobs.AccessKey, at.Blobs.SecretKey})
	if err != nil {
		return err
	}
	addresses := Addresses{HTTP: "http://" + listener.Addr().String(), NATS: at.NATS, Documents: at.Documents, Blobs: at.Blobs, Graph: cfg.GraphURI.Reveal()}
	file := filepath.Join(dir, addressesFile)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) { // one of a killed process
		return err
	}
	proc.part("ready", func(part context.Context) error {
		if !proc.awaitReady(part) {
			return nil
		}
		if err := writeAddresses(file, addresses); err != nil {
			return err
		}
		if o.Ready != nil {
			err := o.Ready(part, Running{Addresses: addresses, Policy: p, Objects: proc.blobs})
			if err != nil && ctx.Err() == nil && part.Err() == nil { // after an interrupt it fails because of that
				return err
			}
		}
		<-part.Done()
		return nil
	})
	return proc.run(ctx, listener)
}

// writeAddresses makes the file appear whole.
func writeAddresses(file string, a Addresses) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", addressesFile, err)
	}
	return os.Rename(file+".new", file)
}
