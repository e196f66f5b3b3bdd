package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tombstone-project/tombstone/internal/auth"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// drainTime is how long requests in hand may go on when the process stops.
const drainTime = 5 * time.Second

// listenHTTP takes the address of TOMBSTONE_LISTEN.
func listenHTTP(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("TOMBSTONE_LISTEN: another process listens on %s: end it, or write another address, with --listen or here", address)
	}
	return nil, fmt.Errorf("TOMBSTONE_LISTEN: %w", err)
}

// handler makes the API of the services that this process runs; view looks at the stores, here or elsewhere.
func (p *process) handler(deps *dependency.Service, assets *asset.Service, view httpapi.StoresAPI) (http.Handler, error) {
	who, err := auth.New(p.cfg.Auth, auth.OIDC{Audience: p.cfg.AuthAudience, OwnerClaim: p.cfg.AuthOwnerClaim, RolesClaim: p.cfg.AuthRolesClaim,
		OperatorRole: p.cfg.AuthOperatorRole, Transport: p.transport()}, p.log)
	if err != nil {
		return nil, err
	}
	c := httpapi.Config{Auth: auth.Limited(who, p.cfg.RateLimit), Checks: p.ready.checks, Registerer: p.registry, Stores: view, RequestTimeout: p.cfg.RequestTimeout, Version: p.info.Version,
		Trace: p.tracer.HTTP, Logger: p.log, Metrics: promhttp.HandlerFor(p.registry, promhttp.HandlerOpts{})}
	if deps != nil {
		c.Dependency = deps
	}
	if assets != nil {
		c.Asset = assetAPI{assets}
	}
	return httpapi.New(c)
}

// transport reaches the issuer of tokens.
func (p *process) transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: p.roots}
	return t
}

// serveHTTP answers until ctx ends, then lets the requests in hand finish.
func serveHTTP(server *http.Server, listener net.Listener) func(context.Context) error {
	return func(ctx context.Context) error {
		failed := make(chan error, 1)
		go func() { failed <- server.Serve(listener) }()
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := server.Shutdown(last); err != nil {
			return server.Close() // what is still open is cut
		}
		if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
