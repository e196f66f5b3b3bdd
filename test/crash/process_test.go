package crash

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// role is what a process runs, as in `tombstone serve`.
type role string

const (
	dependencyRole role = "dependency"
	assetRole      role = "asset"
	bothRoles      role = "all"
)

// process is one process of the system, put together as internal/app does it.
type process struct {
	*fault.Process
	w        *world
	name     string
	role     role
	graph    dependency.Graph    // nil in an asset process
	deps     *dependency.Service // nil in an asset process
	bus      bus
	ctx      context.Context
	stop     context.CancelFunc
	parts    sync.WaitGroup
	replaced bool // another one does its work
}

// steady is a backoff without chance.
var steady = saga.Backoff{Random: func() float64 { return 0 }}

// start starts a process.
func (w *world) start(r role) {
	w.mu.Lock()
	p := &process{w: w, role: r, name: fmt.Sprintf("%s-%d", r, len(w.processes)+1)}
	w.mu.Unlock()
	p.Process = fault.NewProcess(p.name, w.schedule)
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.bus = w.connect(p.Process)
	publisher := w.plant.publisher(p, fault.NewPublisher(p.Process, tap{p.bus, w}))
	if r != assetRole {
		p.runDependency(publisher)
	}
	if r != dependencyRole {
		p.runAsset(publisher)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes = append(w.processes, p)
}

// part runs one part of the process until it stops.
func (p *process) part(run func(context.Context) error) {
	p.parts.Go(func() { _ = run(p.ctx) })
}

func (p *process) runDependency(publisher saga.Publisher) {
	w := p.w
	var commands, feed *saga.Relay
	p.graph = w.plant.graph(fault.NewGraph(p.Process, w.watched(w.graph)))
	deps, err := dependency.New(dependency.Config{Graph: p.graph, Policy: w.policy, Names: w.names, Logger: w.log, ClaimFor: w.claimFor,
		SendCommands: func(f []saga.Flag) { commands.Send(f) },
		SendEvents:   func(f []saga.Flag) { feed.Send(f) },
		Nudge:        func() { commands.Nudge() }})
	if err != nil {
		panic(err)
	}
	p.deps = deps
	commands = saga.NewRelay(saga.RelayConfig{Name: "commands", Outbox: outbox{deps.Commands(), w}, Publisher: publisher, Every: w.lookEvery, Hold: w.hold, Timeout: w.handOver, Logger: w.log})
	feed = saga.NewRelay(saga.RelayConfig{Name: "feed", Outbox: outbox{deps.Feed(), w}, Publisher: publisher, Every: w.lookEvery, Hold: w.hold, Timeout: w.handOver, Logger: w.log})
	reports := saga.Worker{Name: "reports", Subscriber: p.subscriber("reports", p.bus.Reports()), Handle: deps.HandleReport, Backoff: steady, Logger: w.log}
	p.part(func(ctx context.Context) error {
		if !untilDone(ctx, deps.Prepare) {
			return nil
		}
		parts := []func(context.Context) error{feed.Run, deps.RunSent, commands.Run, reports.Run, p.noteStreams}
		if !w.noR2 {
			parts = append(parts, deps.RunResend)
		}
		for _, run := range parts {
			p.part(run)
		}
		return nil
	})
}

// noteStreams tells the service that the broker's streams are the ones that they always were.
func (p *process) noteStreams(ctx context.Context) error {
	made := time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)
	untilDone(ctx, func(ctx context.Context) error { return p.deps.NoteStreams(ctx, made, made) })
	return nil
}

func (p *process) runAsset(publisher saga.Publisher) {
	w := p.w
	var gate asset.Gate = gateway{w: w}
	if p.deps != nil {
		gate = p.deps
	}
	eraser := asset.NewEraser(asset.Config{Policy: w.policy, Documents: w.plant.documents(fault.NewDocuments(p.Process, w.watchedDocuments())),
		Blobs: w.plant.blobs(fault.NewBlobs(p.Process, w.watchedBlobs())), Ledger: w.plant.ledger(fault.NewLedger(p.Process, w.ledger())),
		Gate: w.plant.gate(fault.NewGate(p.Process, gate)), Publisher: publisher, Names: w.names, Log: w.log, BatchTime: w.times.batch})
	worker := saga.Worker{Name: "erase", Subscriber: p.subscriber("commands", p.bus.Commands()), Handle: eraser.HandleMessage, Park: eraser.Park,
		Backoff: steady, Logger: w.log}
	p.part(worker.Run)
}

// subscriber is a consumer of the process. It notes when a message comes again.
func (p *process) subscriber(name string, s saga.Subscriber) saga.Subscriber {
	return p.w.plant.subscriber(name, fault.NewSubscriber(p.Process, name, counted{s, p.w}))
}

// untilDone calls f until it succeeds, every second; false: ctx ended.
func untilDone(ctx context.Context, f func(context.Context) error) bool {
	for f(ctx) != nil {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Second):
		}
	}
	return true
}

func (w *world) all() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.processes)
}

func (w *world) find(name string) *process {
	for _, p := range w.all() {
		if p.name == name {
			return p
		}
	}
	return nil
}

func (w *world) ended(process string) bool { return closed(w.find(process).Ended()) }
func (w *world) runs(process string) bool  { return !w.ended(process) && !w.find(process).Frozen() }

// serving is the service of the newest dependency process that runs; nil when there is none.
func (w *world) serving() *dependency.Service {
	for _, p := range slices.Backward(w.all()) {
		if p.deps != nil && !closed(p.Ended()) && !p.Frozen() {
			return p.deps
		}
	}
	return nil
}
