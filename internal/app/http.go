package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/auth"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// drainTime is how long requests in hand may go on when the process stops.
const drainTime = 10 * time.Second

// handler makes the API of the services that this process runs.
func (p *process) handler(deps *dependency.Service, assets *asset.Service) (http.Handler, error) {
	who, err := auth.New(p.cfg.Auth, p.log)
	if err != nil {
		return nil, err
	}
	c := httpapi.Config{Auth: who, Checks: p.ready.checks, Registerer: p.registry, RequestTimeout: p.cfg.RequestTimeout, Version: p.info.Version,
		Logger: p.log, Metrics: promhttp.HandlerFor(p.registry, promhttp.HandlerOpts{})}
	if deps != nil {
		c.Dependency = deps
	}
	if assets != nil {
		c.Documents = documents{assets}
	}
	return httpapi.New(c)
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

// documents turns the caller of a request into the admission that the asset service asks the graph for.
type documents struct{ *asset.Service }

func (d documents) PutDocument(ctx context.Context, id, part string, body map[string]any, leaseToken string) error {
	return d.Service.PutDocument(ctx, admission(ctx, id, part, leaseToken), body)
}

func (d documents) GetDocument(ctx context.Context, id, part string) (map[string]any, error) {
	return d.Service.GetDocument(ctx, admission(ctx, id, part, ""))
}

func admission(ctx context.Context, id, part, leaseToken string) events.Admission {
	by, _ := dependency.CallerFrom(ctx) // nobody: no owner is theirs, so everything is foreign
	return events.Admission{Asset: id, Part: part, Owner: by.Owner, Operator: by.Operator, LeaseToken: leaseToken}
}
