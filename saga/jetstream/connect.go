package jetstream

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// Conn is a connection to the broker, which a bus and the questions between the services share.
type Conn = nats.Conn

// Connection says where the broker is, and who we are.
type Connection struct {
	URL string // several with commas between them; a user and password may be in it
	// Credentials is the path of a credentials file; empty for none.
	Credentials string
	// Inbox begins the subjects to which answers come, so that nobody else need have the right to read or to write there;
	// empty: the driver's own.
	Inbox string
	// Roots are trusted on a tls:// connection; nil: the system's.
	Roots *x509.CertPool
}

// Connect opens a connection that never gives up: it is made even when the broker is away, and comes back whenever the
// broker does. While there is none, calls fail at once instead of being kept and sent later, when nobody waits for them
// any more.
//
// Messages of the connection reach its own subscriptions (no "no echo"): in one process a service may ask another over
// the same connection.
func Connect(o Connection, logger *slog.Logger) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("tombstone"),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(500 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, 500*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), // a broker whose accounts are being mended refuses us for a while
		nats.Timeout(5 * time.Second),
		nats.PingInterval(10 * time.Second), // a dead peer is noticed within half a minute, not within five
		nats.ConnectHandler(func(c *nats.Conn) { logger.Info("connected to the broker", "url", c.ConnectedUrlRedacted()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { logger.Info("connected to the broker again", "url", c.ConnectedUrlRedacted()) }),
		nats.DisconnectErrHandler(func(c *nats.Conn, err error) {
			if !c.IsClosed() {
				logger.Warn("connection to the broker lost", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			subject := ""
			if s != nil {
				subject = s.Subject
			}
			logger.Warn("broker reports an error", "subject", subject, "error", err)
		}),
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.Roots != nil {
		options = append(options, trust(o.Roots))
	}
	if o.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(o.Inbox))
	}
	nc, err := nats.Connect(o.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the broker: %w", err)
	}
	return nc, nil
}

// trust verifies the broker with these authorities where TLS is spoken: with a tls:// address, or because the broker asks for it.
func trust(roots *x509.CertPool) nats.Option {
	return func(o *nats.Options) error {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
		return nil
	}
}
