package neo4j

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"
	driver "github.com/neo4j/neo4j-go-driver/v5/neo4j/config"
	"github.com/neo4j/neo4j-go-driver/v5/neo4j/notifications"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Times of the driver. They are short against a request's time, so that a server that is away is told of in good time.
const (
	connectTimeout = 2 * time.Second
	acquireTimeout = 4 * time.Second
	// A connection that was idle for longer is tried before it is used: after a restart of the server all old ones are
	// dead.
	livenessAfter = time.Second
)

// leastTimeout is the time that a transaction has at least, as one of the background, whose context has no end, needs it.
const leastTimeout = 30 * time.Second

// Config says where the graph is and how the policy names things in it.
type Config struct {
	URI      string // neo4j://, neo4j+s://, bolt://, …
	User     string // empty: no authentication
	Password string
	Database string // empty: the user's home database
	Names    policy.Graph
	Links    map[string]policy.Link // by relationship type
	// Roots are trusted by neo4j+s:// and bolt+s://; nil: the system's.
	Roots *x509.CertPool
	// Timeout is the longest time of one transaction where ctx has no nearer deadline; less than 30s counts as 30s.
	Timeout time.Duration
}

// Graph is a dependency.Graph on a Neo4j server or cluster.
type Graph struct {
	driver   neo4j.DriverWithContext
	database string
	host     string
	names    names
	timeout  time.Duration

	first     chan struct{} // full from the first transaction on
	connected chan struct{} // closed when that one has begun, or failed to

	mu     sync.Mutex
	closed bool
	inHand sync.WaitGroup // transactions
}

var _ dependency.Graph = (*Graph)(nil)

// Open makes the graph. It does not connect: the server may be away, and come later. An error is about the
// configuration.
func Open(_ context.Context, c Config) (*Graph, error) {
	n, err := newNames(c.Names, c.Links)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(c.URI)
	if err != nil {
		return nil, errors.New("the graph's URI is not a URI") // the parser's error would show a password in it
	}
	auth := neo4j.NoAuth()
	if c.User != "" {
		auth = neo4j.BasicAuth(c.User, c.Password, "")
	}
	d, err := neo4j.NewDriverWithContext(c.URI, auth, configure, func(d *driver.Config) {
		if c.Roots != nil {
			d.TlsConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("configure the graph's driver: %w", err)
	}
	return &Graph{
		driver: d, database: c.Database, host: u.Host, names: n, timeout: max(c.Timeout, leastTimeout),
		first: make(chan struct{}, 1), connected: make(chan struct{}),
	}, nil
}

func configure(c *driver.Config) {
	c.UserAgent = "tombstone"
	c.TelemetryDisabled = true
	c.NotificationsMinSeverity = notifications.DisabledLevel
	c.SocketConnectTimeout = connectTimeout
	c.ConnectionAcquisitionTimeout = acquireTimeout
	c.ConnectionLivenessCheckTimeout = livenessAfter
}

// Update runs fn in a read-write transaction.
func (g *Graph) Update(ctx context.Context, fn func(tx dependency.Tx) error) error {
	return g.transact(ctx, true, g.timeout, fn)
}

// View runs fn in a transaction on the leader of which nothing is kept.
func (g *Graph) View(ctx context.Context, fn func(tx dependency.Tx) error) error {
	return g.transact(ctx, false, g.timeout, fn)
}

// Ping asks the leader for an answer.
func (g *Graph) Ping(ctx context.Context) error {
	return g.transact(ctx, false, g.timeout, func(t dependency.Tx) error {
		return t.(*tx).write(ctx, "ping", "RETURN 1", nil)
	})
}

// session opens one on the leader. It holds no connection before it is used.
func (g *Graph) session(ctx context.Context) neo4j.SessionWithContext {
	return g.driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: neo4j.AccessModeWrite, DatabaseName: g.database})
}

// begin begins a transaction. The first one of all connects alone, as the driver's connector (v5.28.4) completes itself with its
// first connection without a lock.
func (g *Graph) begin(ctx context.Context, s neo4j.SessionWithContext) (neo4j.ExplicitTransaction, error) {
	select {
	case <-g.connected:
	case g.first <- struct{}{}:
		defer close(g.connected)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.BeginTransaction(ctx, neo4j.WithTxTimeout(left(ctx)))
}

// take counts a transaction in hand; give takes it off again.
func (g *Graph) take() (give func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errors.New("the graph is closed")
	}
	g.inHand.Add(1)
	return g.inHand.Done, nil
}

// Close lets no transaction begin any more, waits for those in hand, at most until ctx ends, and closes the driver.
func (g *Graph) Close(ctx context.Context) error {
	g.mu.Lock()
	again := g.closed
	g.closed = true
	g.mu.Unlock()
	if again {
		return nil
	}
	done := make(chan struct{})
	go func() {
		g.inHand.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return g.driver.Close(context.WithoutCancel(ctx))
}
