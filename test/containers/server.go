package containers

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// kind is how servers of one kind are started.
type kind struct {
	name  string
	image string
	// env is the environment variable that names another image.
	env string
	// ports are published; the first is the one that clients dial.
	ports []string
	// options are the container's command, environment and files.
	options []testcontainers.ContainerCustomizer
	ready   wait.Strategy
	// alias is its name on a network of its own, where it has one.
	alias string
}

func (k kind) imageName() string { return cmp.Or(os.Getenv(k.env), k.image) }

// Server is one running container.
type Server struct {
	container *testcontainers.DockerContainer
	kind      kind
	bindings  network.PortMap
	address   string
}

// start runs a container and waits until it is ready. On an error nothing is left behind.
func start(ctx context.Context, k kind) (*Server, error) {
	bindings, address, err := bind(k.ports)
	if err != nil {
		return nil, err
	}
	s := &Server{kind: k, bindings: bindings, address: address}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// run makes the container of the server and starts it.
func (s *Server) run(ctx context.Context) error {
	k := s.kind
	options := append([]testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(k.ports...),
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) { h.PortBindings = s.bindings }),
		testcontainers.WithWaitStrategyAndDeadline(startTimeout, k.ready),
	}, k.options...)
	c, err := testcontainers.Run(ctx, k.imageName(), options...)
	if err != nil {
		_ = testcontainers.TerminateContainer(c)
		return fmt.Errorf("start %s: %w", k.imageName(), err)
	}
	s.container = c
	return nil
}

// bind gives each port a free one of the loopback address, the same for the container's whole life: ports that the
// engine chooses change with every start. It answers with the address of the first.
func bind(ports []string) (network.PortMap, string, error) {
	bindings := network.PortMap{}
	var first string
	for _, p := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // all are held until all are chosen, so that no two are the same
		address := l.Addr().(*net.TCPAddr).AddrPort()
		port, err := network.ParsePort(p)
		if err != nil {
			return nil, "", fmt.Errorf("port %q: %w", p, err)
		}
		bindings[port] = []network.PortBinding{{
			HostIP:   netip.AddrFrom4([4]byte{127, 0, 0, 1}),
			HostPort: fmt.Sprint(address.Port()),
		}}
		first = cmp.Or(first, address.String())
	}
	return bindings, first, nil
}

// Stop ends the server as an operator would, and waits for it.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.container.Stop(t.Context(), nil); err != nil {
		t.Fatalf("stop: %v", err)
	}
}

// Start starts it again after Stop or Kill, on its old data and ports, and waits until it is ready.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startTimeout) // a test that ends starts what it stopped
	defer cancel()
	if err := s.container.Start(ctx); err != nil {
		t.Fatalf("start: %v", err)
	}
}

// Kill ends the server at once (SIGKILL), as a crash does.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.engine(t, "kill", func(ctx context.Context, c *testcontainers.DockerClient, id string) error {
		if _, err := c.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
			return err
		}
		return wait.ForExit().WithExitTimeout(time.Minute).WaitUntilReady(ctx, s.container)
	})
}

// Renew starts the server again after Stop or Kill, on its old ports and without any of its data.
func (s *Server) Renew(t testing.TB) {
	t.Helper()
	if err := s.remove(); err != nil {
		t.Fatalf("renew: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := s.run(ctx); err != nil {
		t.Fatalf("renew: %v", err)
	}
}

// Pause freezes the server: connections stay open, nothing is answered.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	s.engine(t, "pause", func(ctx context.Context, c *testcontainers.DockerClient, id string) error {
		_, err := c.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		return err
	})
}

// Unpause lets it go on.
func (s *Server) Unpause(t testing.TB) {
	t.Helper()
	s.engine(t, "unpause", func(ctx context.Context, c *testcontainers.DockerClient, id string) error {
		_, err := c.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
		return err
	})
}

// engine does what the library has no call for.
func (s *Server) engine(t testing.TB, what string, do func(context.Context, *testcontainers.DockerClient, string) error) {
	t.Helper()
	c, err := testcontainers.NewDockerClientWithOpts(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer c.Close()
	if err := do(t.Context(), c, s.container.GetContainerID()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// remove ends the server without grace, paused or not, and removes it with its data.
func (s *Server) remove() error {
	return testcontainers.TerminateContainer(s.container, testcontainers.StopTimeout(0))
}
