package containers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	dockernet "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/testcontainers/testcontainers-go/wait"
)

// NATSNodes is a NATS cluster with JetStream. Its nodes talk to each other on a network of their own, and to clients as
// every other server does.
type NATSNodes struct {
	// URL names all nodes, with commas between them.
	URL string
	// Nodes are the servers, node-1 first.
	Nodes []*Server

	network string
}

const natsNodes = 3

// OwnNATSNodes starts a cluster of three NATS servers for this test. They need a while to agree on a leader: wait until
// what you need is answered.
func OwnNATSNodes(t testing.TB) *NATSNodes {
	t.Helper()
	prepare()
	check(t, natsKind(), available(t.Context(), natsKind().imageName()))
	n, err := network.New(t.Context())
	if err != nil {
		t.Fatalf("make a network: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Remove(context.Background()); err != nil { // the test is over
			t.Errorf("remove the network: %v", err)
		}
	})
	c := &NATSNodes{Nodes: make([]*Server, natsNodes), network: n.Name}
	var starting sync.WaitGroup
	errs := make([]error, natsNodes)
	for i := range c.Nodes {
		starting.Go(func() { c.Nodes[i], errs[i] = launch(context.Background(), natsNodeKind(i, n.Name)) })
	}
	starting.Wait()
	var urls []string
	for i, s := range c.Nodes {
		if s != nil {
			t.Cleanup(func() {
				if err := s.remove(); err != nil {
					t.Errorf("remove %s: %v", nodeName(i), err)
				}
			})
			urls = append(urls, natsURL(s))
		}
		check(t, natsKind(), errs[i])
	}
	c.URL = strings.Join(urls, ",")
	return c
}

// Node gives the server of a name that the broker uses.
func (c *NATSNodes) Node(t testing.TB, name string) *Server {
	t.Helper()
	for i, s := range c.Nodes {
		if nodeName(i) == name {
			return s
		}
	}
	t.Fatalf("no node is called %q", name)
	return nil
}

// Cut takes a node off the network of the cluster: clients still reach it, the other nodes do not.
func (c *NATSNodes) Cut(t testing.TB, s *Server) {
	t.Helper()
	s.engine(t, "cut off", func(ctx context.Context, docker *testcontainers.DockerClient, id string) error {
		_, err := docker.NetworkDisconnect(ctx, c.network, client.NetworkDisconnectOptions{Container: id})
		return err
	})
}

// Join puts it back.
func (c *NATSNodes) Join(t testing.TB, s *Server) {
	t.Helper()
	s.engine(t, "join", func(ctx context.Context, docker *testcontainers.DockerClient, id string) error {
		_, err := docker.NetworkConnect(ctx, c.network, client.NetworkConnectOptions{Container: id,
			EndpointConfig: &dockernet.EndpointSettings{Aliases: []string{s.kind.alias}}})
		return err
	})
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i+1) }

// natsNodeKind is one node. It is ready before it has met the others, as they wait for each other.
func natsNodeKind(i int, net string) kind {
	var routes []string
	for j := range natsNodes {
		routes = append(routes, "nats://"+nodeName(j)+":6222")
	}
	k := natsKind()
	conf, err := sharedConf()
	if err != nil {
		conf = err.Error()
	}
	conf = strings.Replace(conf, "server_name: tombstone", "server_name: "+nodeName(i), 1)
	conf += fmt.Sprintf("cluster {\n  name: tests\n  listen: 0.0.0.0:6222\n  no_advertise: true\n  routes: [%s]\n}\n", strings.Join(routes, ", "))
	k.alias = nodeName(i)
	k.ready = wait.ForHTTP("/varz").WithPort("8222/tcp")
	k.options = append(natsOptions(conf), testcontainers.CustomizeRequestOption(func(r *testcontainers.GenericContainerRequest) error {
		r.Networks = []string{"bridge", net}
		r.NetworkAliases = map[string][]string{net: {nodeName(i)}}
		return nil
	}))
	return k
}
