package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"golang.org/x/sync/errgroup"
)

// Stack is one server of each kind, for a program that is no test: it must end with Remove.
type Stack struct {
	Neo4j Neo4jAddr
	NATS  string
	S3    S3Addr
	Mongo string // the URI without a database
	// Ferret tells that FerretDB stands in for MongoDB. Its files, one a database, are then in the folder that NewStack
	// was given.
	Ferret bool

	servers []*Server
}

// ferretImage stands in for MongoDB where that cannot be had.
const ferretImage = "ferretdb/ferretdb:1.24.2"

// NewStack starts the servers, side by side, and waits until they are ready. The error wraps ErrUnavailable where this
// machine cannot run them; after an error nothing is left behind. The folder is for FerretDB's files.
func NewStack(ctx context.Context, dir string) (*Stack, error) {
	prepare()
	documents := mongoKind()
	if os.Getenv(documents.env) == "" && available(ctx, documents.image) != nil {
		documents = ferretKind(kind{image: ferretImage, ports: documents.ports})
	}
	s := &Stack{Ferret: isFerret(documents)}
	if s.Ferret {
		documents.options = append(documents.options, keptIn(dir)...)
	}
	if err := s.start(ctx, neo4jKind(), natsKind(), s3Kind(), documents); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	s.Neo4j, s.NATS, s.S3 = neo4jAddr(s.servers[0]), natsURL(s.servers[1]), s3Addr(s.servers[2])
	s.Mongo = "mongodb://" + s.servers[3].address
	return s, nil
}

func (s *Stack) start(ctx context.Context, kinds ...kind) error {
	s.servers = make([]*Server, len(kinds))
	g, ctx := errgroup.WithContext(ctx)
	for i, k := range kinds {
		g.Go(func() (err error) {
			s.servers[i], err = launch(ctx, k)
			return err
		})
	}
	return g.Wait()
}

// keptIn lets FerretDB keep its files in a folder of this machine, as the user who runs this program.
func keptIn(dir string) []testcontainers.ContainerCustomizer {
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) { h.Binds = append(h.Binds, dir+":/state") }),
		testcontainers.WithConfigModifier(func(c *container.Config) { c.User = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()) }),
	}
}

// Processes gives the processes of each server, by its name in lower case, as this machine numbers them.
func (s *Stack) Processes(ctx context.Context) (map[string][]int, error) {
	c, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found := map[string][]int{}
	for _, server := range s.servers {
		name := strings.ToLower(server.kind.name)
		top, err := c.ContainerTop(ctx, server.container.GetContainerID(), client.ContainerTopOptions{Arguments: []string{"-eo", "pid"}})
		if err != nil {
			return nil, fmt.Errorf("processes of %s: %w", name, err)
		}
		for _, line := range top.Processes {
			pid, err := strconv.Atoi(line[0])
			if err != nil {
				return nil, fmt.Errorf("processes of %s: %w", name, err)
			}
			found[name] = append(found[name], pid)
		}
	}
	return found, nil
}

// Remove ends the servers and removes them with their data.
func (s *Stack) Remove() error {
	var errs []error
	for _, server := range s.servers {
		if server == nil {
			continue
		}
		if err := server.remove(); err != nil {
			errs = append(errs, fmt.Errorf("remove the %s container: %w", server.kind.name, err))
		}
	}
	return errors.Join(errs...)
}
