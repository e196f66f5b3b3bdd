package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/internal/httpapi"
	"github.com/tombstone-project/tombstone/internal/run"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/gaterpc"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// gateTimeout bounds a question to the graph over NATS.
const gateTimeout = 5 * time.Second

// assemble opens the stores and puts together every part that the role needs. It starts nothing.
func assemble(ctx context.Context, cfg config.Config, role Role, p *policy.Policy, info Info, log *slog.Logger, keys blobKeys) (*process, error) {
	proc := newProcess(cfg, role, p, info, log)
	bus, err := proc.openBus()
	if err != nil {
		return nil, err
	}
	var deps *dependency.Service
	if role.dependency() {
		if deps, err = proc.dependencyService(ctx, bus); err != nil {
			return nil, errors.Join(err, proc.close())
		}
	}
	var assets *asset.Service
	if role.asset() {
		var gate asset.Gate = deps
		if deps == nil {
			gate = gaterpc.Dial(bus.conn, proc.names, gateTimeout)
		}
		if assets, err = proc.assetService(ctx, bus, gate, keys); err != nil {
			return nil, errors.Join(err, proc.close())
		}
	}
	proc.server, err = proc.handler(deps, assets)
	if err != nil {
		return nil, errors.Join(err, proc.close())
	}
	return proc, nil
}

// run starts every part, the listener last, and stops them in reverse order when ctx ends.
func (p *process) run(ctx context.Context, listener net.Listener) error {
	parts := append(p.parts, run.Part{Name: "http", Run: serveHTTP(httpapi.NewServer(p.server, p.log), listener)})
	return errors.Join(run.Until(ctx, p.log, stopPatience, parts...), p.close())
}
