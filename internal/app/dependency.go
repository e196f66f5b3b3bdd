package app

import (
	"context"
	"errors"

	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset/gaterpc"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// dependencyService adds the parts of the dependency service.
func (p *process) dependencyService(ctx context.Context, b *bus, stores dependency.Stores, plant func(context.Context, string) error) (*dependency.Service, error) {
	graph, err := openGraph(ctx, p.cfg, p.policy, p.roots)
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() error {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		return graph.Close(last)
	})
	key, err := p.cfg.ReceiptSigningKey()
	if err != nil {
		return nil, err
	}
	var commands, feed *saga.Relay
	deps, err := dependency.New(dependency.Config{Graph: p.tracer.Graph(graph), Policy: p.policy, Names: p.names, Logger: p.log, ReceiptKey: key,
		Stores: stores, Plant: plant, LookTimeout: p.lookTimeout(), Meter: p.metrics,
		SendCommands: func(f []saga.Flag) { commands.Send(f) },
		SendEvents:   func(f []saga.Flag) { feed.Send(f) },
		PublishFault: func() error { return commands.Fault() },
		Nudge:        func() { commands.Nudge() }})
	if err != nil {
		return nil, err
	}
	commands = saga.NewRelay(saga.RelayConfig{Name: "commands", Outbox: deps.Commands(), Publisher: p.tracer.Publisher(saga.Signed(b, p.keys)), Waiting: b.WaitingCommands, Logger: p.log})
	feed = saga.NewRelay(saga.RelayConfig{Name: "feed", Outbox: deps.Feed(), Publisher: p.tracer.Publisher(b), Logger: p.log})
	reports := saga.Worker{Name: "reports", Subscriber: p.metrics.Subscriber(b.Reports()), Handle: saga.Verified(p.keys, p.tracer.Handle(deps.HandleReport)), Grace: handBack, Logger: p.log}

	if err := errors.Join(p.metrics.Backlog(deps.Backlog), p.metrics.Jobs(deps.Jobs)); err != nil {
		return nil, err
	}
	p.ready.store("graph", graph.Ping)
	prepared := make(chan struct{})
	p.part("graph", p.prepare("graph", func(ctx context.Context) error { return p.prepareGraph(ctx, deps) }, prepared))
	p.part("feed", after(feed.Run, prepared))
	p.part("sent flags", after(deps.RunSent, prepared))
	p.part("commands", after(commands.Run, prepared))
	p.part("resend", after(deps.RunResend, prepared))
	p.part("recheck", after(deps.RunRecheck, prepared))
	p.part("samples", after(deps.RunSamples, prepared))
	p.part("changes", after(deps.RunChanges, prepared))
	p.part("retention", after(deps.RunRetention, prepared))
	p.part("sweep", after(deps.RunSweep, prepared))
	p.part("stalled", after(deps.RunStalled, prepared))
	p.part("purge", after(deps.RunPurge, prepared))
	p.part("canary", after(deps.RunCanary, prepared))
	p.part("batches", after(deps.RunBatches, prepared))
	p.part("reports", after(reports.Run, prepared, b.prepared))
	p.part("lost streams", after(b.watch(p, deps), prepared, b.prepared))
	if !p.role.asset() {
		p.part("gate", after(serveGate(p, b, deps), prepared))
	}
	return deps, nil
}

// prepareGraph makes the graph ready; a policy that may not be put in force there stops the process.
func (p *process) prepareGraph(ctx context.Context, deps *dependency.Service) error {
	err := deps.Prepare(ctx)
	if moved := (*dependency.PlacesChangedError)(nil); errors.As(err, &moved) {
		return refusal{err}
	}
	if err == nil && p.cfg.StartPaused {
		err = deps.PauseAs(ctx, "TOMBSTONE_START_PAUSED", "")
	}
	return err
}

// serveGate answers the asset service's questions over NATS.
func serveGate(p *process, b *bus, deps *dependency.Service) func(context.Context) error {
	return func(ctx context.Context) error {
		stop, err := gaterpc.Serve(b.conn, p.names, p.keys, deps, p.log)
		if err != nil {
			return err
		}
		<-ctx.Done()
		return stop()
	}
}
