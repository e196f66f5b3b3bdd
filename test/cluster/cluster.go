package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/test/stores"
)

// patience is how long a test waits for what must come. It is no limit on speed.
const patience = 3 * time.Minute

// Role is the service that a process runs.
type Role string

// The roles.
const (
	Dependency Role = "dependency"
	Asset      Role = "asset"
)

// policyText has one kind with parts of all sorts: places with the generation in them, and places without, where only
// the fence keeps one generation from the next.
const policyText = `
graph: {label: %[2]s}
links:
  DEPENDS_ON: {on_target_delete: restrict}
  PART_OF: {on_target_delete: cascade}
  REFERENCES: {on_target_delete: detach}
resend_after: %[3]s
kinds:
  mesh:
    parts:
      description: {document: {collection: descriptions, key: "{id}/{generation}"}}
      note: {document: {collection: notes}}
      payload: {blobs: {bucket: %[1]s, prefix: "payload/{id}/{generation}/"}}
      thumbnail: {blobs: {bucket: %[1]s, key: "thumbs/{id}.png"}}
  bare: {}
  late: {grace: 3s}
`

// Build builds the program, for all tests below the calling one.
func Build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tombstone")
	out, err := exec.Command("go", "build", "-tags", "nodev", "-o", path, "github.com/tombstone-project/tombstone/cmd/tombstone").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// Cluster is the processes of one installation.
type Cluster struct {
	Stores *stores.Stores
	// Env are further settings of processes that start from now on, as NAME=VALUE.
	Env []string

	t         *testing.T
	binary    string
	policy    string
	processes []*Process
}

// New makes a cluster without processes. resendAfter is the policy's.
func New(t *testing.T, binary string, s *stores.Stores, resendAfter time.Duration) *Cluster {
	t.Helper()
	c := &Cluster{Stores: s, t: t, binary: binary, policy: filepath.Join(t.TempDir(), "policy.yaml")}
	if err := os.WriteFile(c.policy, fmt.Appendf(nil, policyText, s.Bucket, s.GraphLabel, resendAfter), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// AddKinds adds lines of YAML to the policy's kinds, for processes that start from now on.
func (c *Cluster) AddKinds(yaml string) {
	c.t.Helper()
	text, err := os.ReadFile(c.policy)
	if err == nil {
		err = os.WriteFile(c.policy, append(text, yaml...), 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// With gives the processes of a role, in the order of their start.
func (c *Cluster) With(role Role) (list []*Process) {
	for _, p := range c.processes {
		if p.role == role {
			list = append(list, p)
		}
	}
	return list
}

// AwaitReady waits until every process says that all its stores answer.
func (c *Cluster) AwaitReady() {
	c.t.Helper()
	for _, p := range c.processes {
		Eventually(c.t, p.Name+" is ready", func() error {
			r, err := p.Ready(c.t.Context())
			if err == nil && !r.Ready {
				err = fmt.Errorf("%+v", r)
			}
			return err
		})
	}
}

// Call makes one call of a role, at any of its processes that is not frozen, and again while there is no answer but that
// something is away. So f must be one that can be repeated. What it gives is a refusal, or that there was no answer for too long.
func (c *Cluster) Call(ctx context.Context, role Role, f func(api *client.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list := c.With(role)
	for {
		p := list[rand.IntN(len(list))]
		if p.isFrozen() {
			if !rest(ctx, 20*time.Millisecond) {
				return fmt.Errorf("%s is frozen: %w", p.Name, ctx.Err())
			}
			continue
		}
		err := f(p.Client)
		if p := problem.As(err); err == nil || p != nil && p.Name != problem.Unavailable {
			return err
		}
		if !rest(ctx, 20*time.Millisecond+rand.N(100*time.Millisecond)) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// rest waits; false when ctx ended first.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Eventually polls until check gives nil.
func Eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	if err := eventually(t.Context(), check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func eventually(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		if !rest(ctx, 50*time.Millisecond) {
			return err
		}
	}
}
