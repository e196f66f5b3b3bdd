package devstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
)

// region is what the server calls its region.
const region = "us-east-1"

// portTries is how many free ports are tried before giving up: the server cannot be handed a listener, so another
// process may take a port between our look and its own.
const portTries = 5

// BlobServer is an embedded versitygw on files: an S3 server with versions and object lock.
type BlobServer struct {
	address BlobAddress
	client  *s3.Client
	http    *http.Client
	cancel  context.CancelFunc
	done    chan struct{}
	failed  error  // why the server ended; read after done
	back    string // the working directory before the start
}

// Blobs starts a server that keeps objects as files named after their keys in DIR/blobs/objects, older versions in
// DIR/blobs/versions and all else that it knows of them in DIR/blobs/sidecar. The account is made at the first start and
// kept in the folder. Until Stop the process's working directory is DIR/blobs/objects, and a second call fails.
func Blobs(ctx context.Context, o Options) (*BlobServer, error) {
	dir, err := filepath.Abs(filepath.Join(o.Dir, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("blobs folder: %w", err)
	}
	for _, sub := range []string{"objects", "versions", "sidecar"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("make blobs folder: %w", err)
		}
	}
	account, err := loadAccount(filepath.Join(dir, "account.json"))
	if err != nil {
		return nil, err
	}
	host, port, err := listenAddress(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	for try := 1; ; try++ {
		s, err := startBlobs(ctx, dir, account, host, port)
		if err == nil {
			return s, nil
		}
		if port != 0 || try == portTries || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("start blob server: %w", err)
		}
	}
}

// startBlobs makes one try; port 0 means a port that is free now.
func startBlobs(ctx context.Context, dir string, account BlobAddress, host string, port int) (*BlobServer, error) {
	port, err := freePort(host, port)
	if err != nil {
		return nil, err
	}
	listen := net.JoinHostPort(host, strconv.Itoa(port))
	account.Endpoint = "http://" + listen
	s := &BlobServer{address: account, http: &http.Client{Transport: &http.Transport{}}, done: make(chan struct{})}
	ready, err := s.run(dir, listen)
	if err != nil {
		return nil, err
	}
	select {
	case <-ready:
		if err = s.probe(ctx); err == nil {
			return s, nil
		}
	case <-s.done:
		err = s.failed
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
}

// run starts the server; ready is closed when it accepts connections.
func (s *BlobServer) run(dir, listen string) (ready chan struct{}, err error) {
	s.back, _ = os.Getwd() // empty when it is gone: then there is none to go back to
	backend, err := openFiles(dir)
	if err != nil {
		return nil, err
	}
	ready = make(chan struct{})
	root := auth.Account{Access: s.address.AccessKey, Secret: s.address.SecretKey, Role: auth.RoleAdmin}
	config := &embedgw.Config{
		RootUserAccess: root.Access, RootUserSecret: root.Secret, Region: s.address.Region,
		IAMService: auth.NewIAMServiceSingle(root),
		Ports:      []string{listen}, MaxConnections: 4096, MaxRequests: 2048, MultipartMaxParts: 10000,
		KeepAlive: true, Quiet: true,
		S3Options: []s3api.Option{s3api.WithOnListen(func() { close(ready) })},
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() {
		defer close(s.done)
		s.failed = embedgw.RunVersityGW(ctx, backend, config)
	}()
	return ready, nil
}

// openFiles opens the folders. The constructor tells standard output which they are, which would land among the lines of
// whoever started us: it gets another one meanwhile.
func openFiles(dir string) (*posix.Posix, error) {
	sidecar, err := meta.NewSideCar(filepath.Join(dir, "sidecar"))
	if err != nil {
		return nil, fmt.Errorf("open metadata: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open null device: %w", err)
	}
	defer func() { _ = null.Close() }()
	out := os.Stdout
	os.Stdout = null
	defer func() { os.Stdout = out }()
	backend, err := posix.New(filepath.Join(dir, "objects"), sidecar, posix.PosixOpts{
		VersioningDir: filepath.Join(dir, "versions"),
		SideCarDir:    filepath.Join(dir, "sidecar"),
	})
	if err != nil {
		return nil, fmt.Errorf("open objects: %w", err)
	}
	return backend, nil
}

// Address is what clients need to connect.
func (s *BlobServer) Address() BlobAddress { return s.address }

// Stop ends the server, waits for requests under way, and goes back to the working directory of before.
func (s *BlobServer) Stop(ctx context.Context) error {
	s.http.CloseIdleConnections()
	s.cancel()
	if err := await(ctx, s.done, "stop blob server"); err != nil {
		return err
	}
	if s.back == "" {
		return nil
	}
	if err := os.Chdir(s.back); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("go back to the working directory: %w", err)
	}
	return nil
}
