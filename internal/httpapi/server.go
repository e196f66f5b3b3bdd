package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/auth"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// AssetAPI is everything that the asset service serves. It takes the caller from the context; refusals are *problem.Problem.
type AssetAPI interface {
	// PutDocument replaces the document. leaseToken is empty when the caller holds no lease.
	PutDocument(ctx context.Context, id, part string, body map[string]any, leaseToken string) error
	GetDocument(ctx context.Context, id, part string) (map[string]any, error)
	// Upload and Download give presigned URLs for one object; bytes, when given, is the only length that is taken.
	Upload(ctx context.Context, id string, r asset.ObjectRequest, bytes *int64) (asset.Grant, error)
	Download(ctx context.Context, id string, r asset.ObjectRequest) (asset.Grant, error)
	// Lease takes the lease of an asset; RenewLease prolongs it (0: no longer than before) and sets attributes under it.
	Lease(ctx context.Context, id string, ttl time.Duration) (asset.Lease, error)
	RenewLease(ctx context.Context, id, token string, ttl time.Duration, attributes map[string]any) (asset.Lease, error)
}

// StoresAPI looks at the stores of the asset service, wherever that is served; no answer is problem.Unavailable.
type StoresAPI interface {
	// Stores tells how the stores are that the policy names.
	Stores(ctx context.Context) (events.StoresView, error)
}

// DependencyAPI is everything that the dependency service serves.
type DependencyAPI interface {
	dependency.AssetsAPI
	dependency.DeletionsAPI
	dependency.BatchesAPI
	dependency.OperationsAPI
	dependency.DrivingAPI
	dependency.FollowingAPI
	dependency.WatchingAPI
	dependency.ReversalAPI
	dependency.OwnersAPI
	dependency.PlanningAPI
	dependency.VerifyingAPI
	dependency.ProofAPI
	dependency.RetentionAPI
	dependency.SweepAPI
}

// Config says what is served. Auth, Metrics and Registerer are required, and at least one service.
type Config struct {
	// Dependency is the dependency service; nil when it is not served here.
	Dependency DependencyAPI
	// Asset is the asset service; nil when it is not served here.
	Asset AssetAPI
	// Stores looks at the stores of the asset service, here or elsewhere.
	Stores StoresAPI

	Auth auth.Authenticator
	// Checks decide /readyz.
	Checks []Check
	// Metrics answers /metrics, and Registerer takes what is measured here.
	Metrics    http.Handler
	Registerer prometheus.Registerer
	// RequestTimeout bounds each request, but for the time that the caller asks to wait and for imports and searches; default 10 s.
	RequestTimeout time.Duration
	Version        string
	// Trace makes spans of requests, once their routes are known; nil: nobody does.
	Trace  func(http.Handler) http.Handler
	Logger *slog.Logger // nil: nothing is logged
}

// validate fills defaults and joins what is missing.
func (c *Config) validate() error {
	var faults []error
	if c.Dependency == nil && c.Asset == nil {
		faults = append(faults, errors.New("httpapi: there is no service to serve"))
	}
	if c.Auth == nil || c.Metrics == nil || c.Registerer == nil {
		faults = append(faults, errors.New("httpapi: Auth, Metrics and Registerer are required"))
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 10 * time.Second
	}
	if c.Trace == nil {
		c.Trace = func(next http.Handler) http.Handler { return next }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(faults...)
}

// server holds what the handlers share.
type server struct {
	cfg Config
	log *slog.Logger
	mux *chi.Mux
	api huma.API

	unserved sparse // requests that are answered with 503

	checked sync.Mutex
	down    map[string]bool // stores that did not answer the last probe; guarded by checked
}

// New makes the handler of one listener.
func New(cfg Config) (http.Handler, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	useProblems()
	s := &server{cfg: cfg, log: cfg.Logger, mux: chi.NewMux(), down: map[string]bool{}}
	measured, err := measure(cfg.Registerer, cfg.Logger)
	if err != nil {
		return nil, err
	}
	s.mux.Use(measured, cfg.Trace, s.recoverPanics, safeHeaders, keepEscapedPath, middleware.GetHead, refuseForeignPages, s.limitBodies, s.guard)
	s.mux.NotFound(s.notFound)
	s.mux.MethodNotAllowed(s.methodNotAllowed)
	s.api = humachi.New(s.mux, apiConfig(cfg.Version))
	if cfg.Dependency != nil {
		s.assetRoutes()
		s.linkRoutes()
		s.importRoute()
		s.deleteRoute()
		s.planRoute()
		s.verifyRoute()
		s.deletePartRoute()
		s.batchRoutes()
		s.deletionRoutes()
		s.cancelRoute()
		s.pendingRoutes()
		s.stalledRoutes()
		s.auditRoute()
		s.holdRoutes()
		s.pauseRoutes()
		s.usageRoute()
		s.followRoute()
		s.watchingRoutes()
		s.receiptRoutes()
		s.retentionRoute()
		s.sweepRoute()
	}
	if cfg.Asset != nil {
		s.documentRoutes()
		s.grantRoutes()
		s.leaseRoutes()
	}
	if cfg.Stores != nil {
		s.storesRoute()
	}
	s.healthRoutes()
	return s.mux, errors.Join(s.openAPIRoute(), s.pageRoutes())
}

// NewServer makes an HTTP server with limits that fit the handler: headers must come quickly and be small, while answers
// may take as long as the handler lets them. Shutdown ends streams of events at once. The caller sets the address and runs
// it.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	ending, end := context.WithCancel(context.Background())
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), serverEnd{}, ending)
		},
	}
	s.RegisterOnShutdown(end)
	return s
}
