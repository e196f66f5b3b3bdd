// Package app puts the services together: it reads the policy, opens the stores that a role needs, and runs the parts of
// the process. It is the only importer of adapters.
package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/internal/run"
	"github.com/tombstone-project/tombstone/internal/telemetry"
	"github.com/tombstone-project/tombstone/internal/tracing"
	"github.com/tombstone-project/tombstone/policy"
)

// Role is which services a process runs.
type Role string

// The roles.
const (
	Dependency Role = "dependency"
	Asset      Role = "asset"
	All        Role = "all"
)

func (r Role) dependency() bool { return r != Asset }
func (r Role) asset() bool      { return r != Dependency }

// stopPatience is how long each part of the process may take to stop.
const stopPatience = 20 * time.Second

// handBack is how long the work in hand may go on when the process stops; then it is given back.
const handBack = 5 * time.Second

// readyPoll is how often a start looks whether everything answers.
const readyPoll = 50 * time.Millisecond

// Info says what this binary is, for the API and the log.
type Info struct{ Version string }

// Serve runs the services of a role against the stores that the configuration names, until ctx ends. A store that does not
// answer does not stop it: /readyz says so, and the process recovers by itself. Errors are about the configuration and the
// policy, or a port that is taken.
func Serve(ctx context.Context, cfg config.Config, role Role, info Info, log *slog.Logger) error {
	if err := requirements(cfg, role); err != nil {
		return err
	}
	p, err := policy.Load(cfg.Policy)
	if err != nil {
		return err
	}
	if p, err = namespaced(cfg, p); err != nil {
		return err
	}
	listener, err := listenHTTP(cfg.Listen)
	if err != nil {
		return err
	}
	secured, err := secure(listener, cfg.TLSCert, cfg.TLSKey, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	proc, err := assemble(ctx, cfg, role, p, info, log, blobKeys{})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if cfg.MessageKey == "" {
		log.Warn("messages are not signed: whoever may publish on the broker can say that something is erased; see TOMBSTONE_MESSAGE_KEY")
	}
	log.Info("serving", "role", string(role), "address", listener.Addr().String(), "version", info.Version)
	return proc.run(ctx, secured)
}

// namespaced is the policy with the canary's kind, whose names begin with the namespace. It refuses one whose documents would
// lie among our own collections.
func namespaced(cfg config.Config, p *policy.Policy) (*policy.Policy, error) {
	for _, c := range p.Collections() {
		if strings.HasPrefix(c, cfg.Namespace+"_") {
			return nil, fmt.Errorf("policy: collection %q begins with the namespace %q, which is for Tombstone's own; rename one of them", c, cfg.Namespace)
		}
	}
	return p.WithCanary(cfg.Namespace)
}

// requirements are the settings that a role cannot do without.
func requirements(cfg config.Config, role Role) error {
	names := []string{config.Policy, config.NATSURL}
	if role.dependency() {
		names = append(names, config.GraphURI)
	}
	if role.asset() {
		names = append(names, config.DocumentsURI)
	}
	return cfg.Require(names...)
}

// process is everything that one process runs.
type process struct {
	cfg      config.Config
	role     Role
	policy   *policy.Policy
	names    events.Names
	info     Info
	log      *slog.Logger
	keys     events.Keys // of messages; none: they are not signed
	registry *prometheus.Registry
	metrics  *telemetry.Metrics
	tracer   *tracing.Tracer // nil: off
	parts    []run.Part      // in the order of their start
	closers  []func() error
	ready    readiness
	server   http.Handler
	blobs    Objects
	roots    *x509.CertPool // that connections trust; nil: the system's
}

// Objects is the object store as other programs fill it.
type Objects interface {
	Put(ctx context.Context, bucket, key string, body io.Reader, size int64) error
}

// close closes what was opened, the last first.
func (p *process) close() error {
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// awaitReady waits until every store answers and is prepared; false when ctx ended first.
func (p *process) awaitReady(ctx context.Context) bool {
	for {
		faults := make([]error, len(p.ready.checks))
		for i, c := range p.ready.checks {
			faults[i] = c.Ping(ctx)
		}
		if errors.Join(faults...) == nil {
			return true
		}
		if !rest(ctx, readyPoll) {
			return false
		}
	}
}

func newProcess(cfg config.Config, role Role, p *policy.Policy, info Info, log *slog.Logger) *process {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &process{cfg: cfg, role: role, policy: p, names: events.Names{Namespace: cfg.Namespace}, info: info, log: log, registry: registry,
		metrics: telemetry.New(registry)}
}

// readKeys takes up the keys of messages.
func (p *process) readKeys() (err error) {
	if p.cfg.MessageKey != "" {
		p.keys, err = events.ParseKeys(p.cfg.MessageKey.Reveal())
	}
	return err
}

// readRoots takes up the authorities that connections trust.
func (p *process) readRoots() (err error) {
	p.roots, err = p.cfg.TrustedRoots()
	return err
}

// part adds one long-lived part.
func (p *process) part(name string, f func(context.Context) error) {
	p.parts = append(p.parts, run.Part{Name: name, Run: f})
}
