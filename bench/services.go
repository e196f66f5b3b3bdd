package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/config"
)

// serveServices runs both services, as `tombstone serve all`, until ctx ends.
func serveServices(ctx context.Context) error {
	cfg, err := config.Load(config.Sources{LookupEnv: os.LookupEnv})
	if err != nil {
		return err
	}
	if err := announce(struct{}{}); err != nil {
		return err
	}
	return app.Serve(ctx, cfg, app.All, app.Info{Version: "bench"}, errorsOnly())
}

// product is the running services.
type product struct {
	*client.Client
	stores  *stores
	process *child
	more    []*product // further replicas
}

// startReplicas is startProduct for so many replicas of both services, on the same stores.
func startReplicas(ctx context.Context, s *stores, sc *scene, dir string, clients, n int) (*product, error) {
	first, err := startProduct(ctx, s, sc, dir, clients)
	for i := 1; i < n && err == nil; i++ {
		var another *product
		if another, err = startProduct(ctx, s, sc, dir, clients); another != nil {
			first.more = append(first.more, another)
		}
		if err == nil {
			another.process.role = fmt.Sprintf("%s %d", roleServices, i+1)
		}
	}
	return first, err
}

// stop ends all replicas.
func (p *product) stop() error {
	err := p.process.stop()
	for _, another := range p.more {
		err = errors.Join(err, another.process.stop())
	}
	return err
}

// replica is the one that a client speaks to: they take turns.
func (p *product) replica(client int) *product {
	if i := client % (1 + len(p.more)); i > 0 {
		return p.more[i-1]
	}
	return p
}

// startProduct starts the services on the stores and waits until they are ready.
func startProduct(ctx context.Context, s *stores, sc *scene, dir string, clients int) (*product, error) {
	file := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(sc.text), 0o600); err != nil {
		return nil, err
	}
	listen, err := freePort()
	if err != nil {
		return nil, err
	}
	env := map[string]string{"TOMBSTONE_LISTEN": listen, "TOMBSTONE_POLICY": file, "TOMBSTONE_NAMESPACE": sc.namespace, "TOMBSTONE_GRAPH_URI": s.graphURI(sc)}
	for name, value := range s.env {
		env[name] = value
	}
	p := &product{stores: s}
	if p.process, err = startChild(roleServices, env, &struct{}{}); err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	if p.Client, err = client.New("http://"+listen, "", client.WithHTTPClient(&http.Client{Transport: transport})); err != nil {
		return p, err
	}
	return p, eventually(ctx, func() (bool, error) {
		r, err := p.Ready(ctx)
		return err == nil && r.Ready, nil // it may not listen yet
	})
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// pollEvery is the pace at which states are looked at, and so the error of the times measured.
const pollEvery = 100 * time.Millisecond

// idlePatience is how long a poll may go on without any progress.
const idlePatience = 2 * time.Minute

// eventually polls until done is true, or gives an error, or has taken too long.
func eventually(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, idlePatience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("no progress for %s: %w", idlePatience, ctx.Err())
		}
	}
}
