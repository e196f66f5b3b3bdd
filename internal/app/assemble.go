package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/run"
	"github.com/tombstone-project/tombstone/internal/tracing"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/gaterpc"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/storesrpc"
)

// gateTimeout bounds a question to the graph over NATS.
const gateTimeout = 5 * time.Second

// lookTimeout bounds a question to the asset service, so that a request which asks one can still be refused in its time.
func (p *process) lookTimeout() time.Duration { return p.cfg.RequestTimeout * 4 / 5 }

// assemble opens the stores and puts together every part that the role needs. It starts nothing.
func assemble(ctx context.Context, cfg config.Config, role Role, p *policy.Policy, info Info, log *slog.Logger, keys blobKeys) (*process, error) {
	proc := newProcess(cfg, role, p, info, log)
	if err := errors.Join(proc.readKeys(), proc.readRoots(), proc.startTracing(ctx)); err != nil {
		return nil, err
	}
	bus, err := proc.openBus()
	if err != nil {
		return nil, errors.Join(err, proc.close())
	}
	var stores asset.Config
	if role.asset() {
		if stores, err = proc.openStores(ctx, bus, keys); err != nil {
			return nil, errors.Join(err, proc.close())
		}
	}
	var deps *dependency.Service
	var assets *asset.Service
	var view httpapi.StoresAPI
	if role.dependency() {
		remote := storesrpc.Dial(bus.conn, proc.names, proc.keys, proc.lookTimeout())
		looker, plant := dependency.Stores(remote), remote.Plant
		view = remote
		if role.asset() {
			looker = asset.NewInspector(stores)
			plant = func(ctx context.Context, id string) error { return assets.Plant(ctx, id) }
		}
		if deps, err = proc.dependencyService(ctx, bus, looker, plant); err != nil {
			return nil, errors.Join(err, proc.close())
		}
	}
	if role.asset() {
		stores.Gate = deps
		if deps == nil {
			stores.Gate = gaterpc.Dial(bus.conn, proc.names, proc.keys, gateTimeout)
		}
		stores.Gate = proc.tracer.Gate(stores.Gate)
		assets = proc.assetService(bus, stores)
		view = assets
	}
	proc.server, err = proc.handler(deps, assets, view)
	if err != nil {
		return nil, errors.Join(err, proc.close())
	}
	return proc, nil
}

// startTracing sends traces where OpenTelemetry's settings say. Its last ones leave when everything else has ended.
func (p *process) startTracing(ctx context.Context) (err error) {
	if p.tracer, err = tracing.Start(ctx, os.LookupEnv, p.info.Version, p.log); err != nil {
		return err
	}
	p.closers = append(p.closers, func() error {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), handBack)
		defer cancel()
		if err := p.tracer.Shutdown(last); err != nil {
			p.log.Warn("the last traces are not sent", "error", err)
		}
		return nil
	})
	return nil
}

// run starts every part, the listener last, and stops them in reverse order when ctx ends.
func (p *process) run(ctx context.Context, listener net.Listener) error {
	parts := append(p.parts, run.Part{Name: "http", Run: serveHTTP(httpapi.NewServer(p.server, p.log), listener)})
	return errors.Join(run.Until(ctx, p.log, stopPatience, parts...), p.close())
}
