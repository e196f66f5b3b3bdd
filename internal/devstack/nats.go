package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"
)

// NATSServer is an embedded nats-server with JetStream, which writes every message through to the disk before it
// acknowledges it.
type NATSServer struct {
	server *server.Server
}

// NATS starts a server that keeps its streams in DIR/jetstream.
func NATS(ctx context.Context, o Options) (*NATSServer, error) {
	host, port, err := listenAddress(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "tombstone-dev",
		Host:       host,
		Port:       port,
		JetStream:  true,
		StoreDir:   o.Dir, // the server adds "jetstream"
		SyncAlways: true,
		NoSigs:     true,
	})
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	log := &natsLog{log: quiet(o.Logger, slog.LevelWarn), fatal: make(chan string, 1)}
	s.SetLoggerV2(log, false, false, false)
	go s.Start()
	if err := awaitNATS(ctx, s, log); err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("start nats: %w", err)
	}
	return &NATSServer{server: s}, nil
}

// awaitNATS waits until connections are accepted and streams are there.
func awaitNATS(ctx context.Context, s *server.Server, log *natsLog) error {
	ready := make(chan bool, 1)
	go func() { ready <- s.ReadyForConnections(startLimit) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case why := <-log.fatal:
		return fmt.Errorf("%s", why)
	case ok := <-ready:
		if !ok || !s.JetStreamEnabled() {
			return fmt.Errorf("not ready after %s", startLimit)
		}
		return nil
	}
}

// URL is where clients connect.
func (n *NATSServer) URL() string { return n.server.ClientURL() }

// Stop ends the server and waits until its files are closed, or ctx ends.
func (n *NATSServer) Stop(ctx context.Context) error {
	n.server.Shutdown()
	done := make(chan struct{})
	go func() { n.server.WaitForShutdown(); close(done) }()
	return await(ctx, done, "stop nats")
}

// natsLog hands the server's messages to slog and catches what it calls fatal, for which it would end the process.
type natsLog struct {
	log    *slog.Logger
	fatal  chan string
	caught atomic.Bool
}

func (l *natsLog) Noticef(format string, v ...any) { l.log.Info(fmt.Sprintf(format, v...)) }
func (l *natsLog) Warnf(format string, v ...any)   { l.log.Warn(fmt.Sprintf(format, v...)) }
func (l *natsLog) Errorf(format string, v ...any)  { l.log.Error(fmt.Sprintf(format, v...)) }
func (l *natsLog) Debugf(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }
func (l *natsLog) Tracef(format string, v ...any)  { l.log.Debug(fmt.Sprintf(format, v...)) }

func (l *natsLog) Fatalf(format string, v ...any) {
	l.log.Error(fmt.Sprintf(format, v...))
	if l.caught.CompareAndSwap(false, true) {
		l.fatal <- fmt.Sprintf(format, v...)
	}
}
