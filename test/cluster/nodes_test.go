package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/test/containers"
	"github.com/tombstone-project/tombstone/test/invariants"
	"github.com/tombstone-project/tombstone/test/stores"
)

// brokerNodes runs on three NATS nodes with three replicas of each stream. Under load the leader of the command stream is
// killed and started again, then its new leader is cut off from the other nodes, while clients still reach it.
func brokerNodes(t *testing.T, binary string) {
	s := stores.Containers(t)
	nodes := containers.OwnNATSNodes(t)
	s.NATS = nodes.URL
	c := New(t, binary, s, 10*time.Second)
	c.Env = []string{"TOMBSTONE_STREAM_REPLICAS=3"}
	for range 2 {
		c.Start(Dependency, s)
		c.Start(Asset, s)
	}
	c.AwaitReady()
	l := newLoad(c)
	filled(t, l, "bystander")
	n := &brokerCluster{t: t, nodes: nodes, stream: events.Names{Namespace: s.Namespace}.Commands().Name}
	n.awaitReplicas()
	inFlight, families := importMany(t, l, "many", 200), 12
	if testing.Short() {
		families = 6
	}

	underLoad(t, l, families, func(ctx context.Context, calls <-chan struct{}) {
		awaitCalls(ctx, calls, 50)
		leader := n.leader("")
		t.Logf("%s leads, and is killed", leader)
		nodes.Node(t, leader).Kill(t)
		deleteAll(t, l, inFlight[:100])
		next := n.leader(leader)
		awaitCalls(ctx, calls, 50)
		nodes.Node(t, leader).Start(t)
		n.awaitReplicas()

		t.Logf("%s leads, and is cut off", next)
		nodes.Cut(t, nodes.Node(t, next))
		deleteAll(t, l, inFlight[100:])
		t.Logf("%s leads", n.leader(next))
		awaitCalls(ctx, calls, 50)
		nodes.Join(t, nodes.Node(t, next))
		n.awaitReplicas()
	})
	for _, a := range inFlight {
		if err := l.await(t.Context(), l.deletionOf(a.ID), nil); err != nil {
			t.Fatal(err)
		}
	}
	c.AwaitReady()
	api := c.With(Dependency)[0]
	invariants.Check(t, invariants.World{API: api.Client, URL: api.URL, Stores: s}, l.known())
}

// underLoad runs families of assets while disturb goes on, and waits for both. calls gets something for each answered call.
func underLoad(t *testing.T, l *load, families int, disturb func(ctx context.Context, calls <-chan struct{})) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed(t), 0))
	calls := make(chan struct{}, 1000)
	l.done = func() {
		select {
		case calls <- struct{}{}:
		default:
		}
	}
	var clients sync.WaitGroup
	for i := range families {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		clients.Go(func() {
			if err := l.family(t.Context(), fmt.Sprintf("f%d", i), own); err != nil {
				t.Error(err)
			}
		})
	}
	disturb(t.Context(), calls)
	clients.Wait()
}

// awaitCalls lets some calls be answered; if they all wait for what is broken, some seconds pass.
func awaitCalls(ctx context.Context, calls <-chan struct{}, n int) {
	over := time.After(10 * time.Second)
	for range n {
		select {
		case <-calls:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// brokerCluster is what the nodes tell of a stream.
type brokerCluster struct {
	t      *testing.T
	nodes  *containers.NATSNodes
	stream string
}

// leader waits until a node other than this one leads the stream, and gives its name.
func (n *brokerCluster) leader(other string) (name string) {
	n.t.Helper()
	Eventually(n.t, "another leader of the stream", func() error {
		return n.ask(func(c *jetstream.ClusterInfo) error {
			if name = c.Leader; name == "" || name == other {
				return fmt.Errorf("the leader is %q", name)
			}
			return nil
		})
	})
	return name
}

// awaitReplicas waits until all nodes have the stream.
func (n *brokerCluster) awaitReplicas() {
	n.t.Helper()
	Eventually(n.t, "three replicas of the stream", func() error {
		return n.ask(func(c *jetstream.ClusterInfo) error {
			current := 1 // the leader
			for _, r := range c.Replicas {
				if r.Current && !r.Offline {
					current++
				}
			}
			if current < len(n.nodes.Nodes) {
				return fmt.Errorf("%d: %+v", current, c.Replicas)
			}
			return nil
		})
	})
}

// ask asks one node after the other, until one answers well.
func (n *brokerCluster) ask(well func(*jetstream.ClusterInfo) error) (err error) {
	for url := range strings.SplitSeq(n.nodes.URL, ",") {
		info, fault := clusterInfo(n.t.Context(), url, n.stream)
		if fault == nil {
			fault = well(info)
		}
		if fault == nil {
			return nil
		}
		err = errors.Join(err, fault)
	}
	return err
}

func clusterInfo(ctx context.Context, url, stream string) (*jetstream.ClusterInfo, error) {
	nc, err := nats.Connect(url, nats.Timeout(time.Second))
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(2*time.Second))
	if err != nil {
		return nil, err
	}
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	if c := s.CachedInfo().Cluster; c != nil {
		return c, nil
	}
	return nil, errors.New("no cluster")
}
