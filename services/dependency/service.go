package dependency

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/batch"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/saga"
)

// Config of a Service. Graph and Policy are required.
type Config struct {
	Graph  Graph
	Policy *policy.Policy
	Names  events.Names // subjects; the zero value is the default namespace
	Logger *slog.Logger // nil: nothing is logged
	Now    func() time.Time
	// Replica names this process in claims; default a new UUID, so that a restart never takes over its own old claims.
	Replica string
	// ClaimFor is how long a flag that was just written stays with this replica before others may publish it; default 10 s.
	ClaimFor time.Duration
	// MaxBatch bounds a group commit; default 200.
	MaxBatch int
	// SendCommands and SendEvents take flags that this process has just written and claimed, to publish them at once.
	// They must not block. Nil: the outboxes are emptied by their relays alone.
	SendCommands func([]saga.Flag)
	SendEvents   func([]saga.Flag)
	// ReceiptKey signs receipts; nil: a key is made and kept with the graph.
	ReceiptKey ed25519.PrivateKey
	// Jitter picks a time from 0 to less than its argument, by which replicas put retention off, each its own; default at
	// random.
	Jitter func(time.Duration) time.Duration
	// Meter is told what happened; nil: nobody is.
	Meter Meter
	// PublishFault is why the relay of commands of this process failed the last time; nil when it works. Nil: nobody knows.
	PublishFault func() error
	// Nudge asks the relay of commands to look at once; nil: it looks at its next tick.
	Nudge func()
	// Stores is the way to the asset service; nil: what needs it answers problem.Unavailable.
	Stores Stores
	// Plant has the asset service write the content of a canary; nil: there is no canary.
	Plant func(ctx context.Context, asset string) error
	// LookTimeout bounds one question to Stores; default 5 s.
	LookTimeout time.Duration
}

// Service is the dependency service: it decides in the graph, and drives what it has decided. It is safe for concurrent
// use and implements every interface of the API: AssetsAPI, DeletionsAPI, BatchesAPI, OperationsAPI, DrivingAPI, FollowingAPI,
// WatchingAPI, ReversalAPI, OwnersAPI, ProofAPI, RetentionAPI, PlanningAPI and VerifyingAPI.
type Service struct {
	cfg    Config
	graph  Graph
	policy *policy.Policy
	log    *slog.Logger

	puts        *batch.Group[putItem, putResult]
	linkings    *batch.Group[linkItem, error]
	acceptances *batch.Group[acceptItem, acceptResult]
	reports     *batch.Group[any, error]
	doors       *batch.Group[door, error]

	receiptKeys *receiptKeys

	sent    *sentBuffer
	waiting *waiters

	plans    keptPlans
	activity *activity
	viewers  *viewers

	retain          chan struct{} // a run of retention was asked for
	retentionJitter time.Duration
	sweeps          chan struct{} // a sweep was asked for
	// batchesWoken lets RunBatches look at once.
	batchesWoken chan struct{}
}

// New makes a service. It starts nothing: Run of its parts is the composition root's.
func New(cfg Config) (*Service, error) {
	if cfg.Graph == nil || cfg.Policy == nil {
		return nil, errors.New("dependency: Graph and Policy are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Replica == "" {
		cfg.Replica = newID()
	}
	if cfg.ClaimFor == 0 {
		cfg.ClaimFor = 10 * time.Second
	}
	if cfg.Meter == nil {
		cfg.Meter = noMeter{}
	}
	if cfg.MaxBatch == 0 {
		cfg.MaxBatch = 200
	}
	if cfg.LookTimeout == 0 {
		cfg.LookTimeout = 5 * time.Second
	}
	if cfg.Jitter == nil {
		cfg.Jitter = rand.N[time.Duration]
	}
	s := &Service{cfg: cfg, graph: cfg.Graph, policy: cfg.Policy, log: cfg.Logger,
		receiptKeys: &receiptKeys{graph: cfg.Graph, configured: cfg.ReceiptKey}, sent: newSentBuffer(), waiting: newWaiters(),
		activity: newActivity(), viewers: newViewers(),
		batchesWoken: make(chan struct{}, 1), retain: make(chan struct{}, 1), sweeps: make(chan struct{}, 1), retentionJitter: cfg.Jitter(retentionJitterOf(cfg.Policy.Retention.Every))}
	// One lane each: while one transaction runs, requests gather for the next (DESIGN section 4).
	s.puts = batch.New(cfg.MaxBatch, 1, isolate(s.put, func(err error) putResult { return putResult{err: err} }))
	s.linkings = batch.New(cfg.MaxBatch, 1, isolate(s.link, itself))
	s.acceptances = batch.New(cfg.MaxBatch, 1, isolate(s.accept, func(err error) acceptResult { return acceptResult{err: err} }))
	s.reports = batch.New(cfg.MaxBatch, 1, isolate(s.applyReports, itself))
	s.doors = batch.New(cfg.MaxBatch, 1, isolate(s.pass, itself))
	return s, nil
}

func itself(err error) error { return err }

// now is the present time in UTC, to the microsecond that every graph keeps.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }
