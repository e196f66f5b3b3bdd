package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tombstone-project/tombstone/test/containers"
)

// settings are what the command line says.
type settings struct {
	Assets   int    `json:"assets"`
	Clients  int    `json:"clients"`
	Runs     int    `json:"runs"`
	Smoke    bool   `json:"smoke"`
	Stores   string `json:"stores"`   // embedded, containers or running
	Layout   string `json:"layout"`   // a name of layouts
	Cascade  bool   `json:"cascade"`  // one request for all assets
	Warm     int    `json:"warm"`     // assets deleted before measuring
	Objects  counts `json:"objects"`  // objects an asset, one measurement for each
	Replicas int    `json:"replicas"` // of each service, next to one
	Accept   bool   `json:"accept"`   // acceptance alone
	Growth   counts `json:"growth"`   // live assets beside, one measurement for each
	// ObjectsBeside is how many of those have objects.
	ObjectsBeside int     `json:"objects_beside"`
	Flags         int     `json:"flags"` // unsent at the start
	Import        bool    `json:"import"`
	MinRatio      float64 `json:"min_ratio"`
	JSON          string  `json:"-"`
	Profiles      string  `json:"-"`
	PIDs          pids    `json:"-"`

	servers *servers // in containers; nil: there are none
}

// Where the stores are.
const (
	embedded     = "embedded"   // in a process of the benchmark
	inContainers = "containers" // that it starts
	running      = "running"    // those that TOMBSTONE_* and AWS_* name
	auto         = "auto"       // containers where the machine can run them, else embedded
)

// pids are processes by name, as `name=pid,name=pid`.
type pids map[string][]int

func (p pids) String() string { return "" } // the default is none

func (p pids) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(pair, "=")
		pid, err := strconv.Atoi(number)
		if err != nil || name == "" {
			return fmt.Errorf("%q is not name=pid", pair)
		}
		p[name] = append(p[name], pid)
	}
	return nil
}

// jvmWarm is how many deletions come before those measured where the graph is a server that was started just now.
const jvmWarm = 1000

// A smoke run is small, and its bound so wide that only a product that crawls breaks it.
const (
	smokeAssets   = 200
	smokeClients  = 16
	smokeMinRatio = 0.01
)

func parseOptions(args []string) (settings, error) {
	o := settings{PIDs: pids{}}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.Assets, "n", 2000, "assets")
	f.IntVar(&o.Clients, "clients", 64, "clients that ask for deletions at the same time")
	f.IntVar(&o.Runs, "runs", 3, "repetitions, each on fresh stores")
	f.BoolVar(&o.Smoke, "smoke", false, fmt.Sprintf("one small run: %d assets, %d clients, a ratio of at least %v", smokeAssets, smokeClients, smokeMinRatio))
	f.StringVar(&o.Stores, "stores", embedded, "embedded; containers, which are started and removed; auto: containers where Docker answers, else embedded; running: stores that TOMBSTONE_* and AWS_* name")
	f.StringVar(&o.Layout, "layout", "hashed", "where parts lie: hashed (generations in every key, a short hash before it), or flat (documents by id alone, all prefixes side by side)")
	f.BoolVar(&o.Cascade, "cascade", false, "one request for a tree that takes all assets along, instead of a request for each")
	f.IntVar(&o.Warm, "warm", -1, fmt.Sprintf("assets to delete before measuring, as a server on a JVM is slow after its start; by default %d in containers, else none", jvmWarm))
	f.Var(&o.Objects, "objects", "measure objects deleted a second for assets with so many objects each, as 1,3,100,25000; -n is then how many objects in all, if one asset does not have more")
	f.IntVar(&o.Replicas, "replicas", 1, "measure so many replicas of both services next to one, on the same stores, instead of the floors")
	f.BoolVar(&o.Accept, "accept", false, "measure how fast deletions are accepted, next to bare transactions that write the same records; nothing is erased meanwhile")
	f.Var(&o.Growth, "growth", "measure -n deletions beside so many live assets, as 1000,10000,100000")
	f.IntVar(&o.ObjectsBeside, "objects-beside", fillBatch, "with -growth: how many of the assets beside have objects (the others have a document and a node)")
	f.IntVar(&o.Flags, "flags", 0, "measure a start with so many accepted deletions, none of which the broker has")
	f.BoolVar(&o.Import, "import", false, "measure the import next to batched writes of nodes into the same graph")
	f.Var(o.PIDs, "pids", "processes of running stores to measure too, as name=pid,name=pid (docker inspect -f '{{.State.Pid}}' tells them)")
	f.Float64Var(&o.MinRatio, "min-ratio", 0, "fail when the median ratio to the floor is below")
	f.StringVar(&o.JSON, "json", "", "write the results to this file")
	f.StringVar(&o.Profiles, "profiles", "", "write profiles of stores and services into this folder (pprof: CPU, block, mutex)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.Smoke {
		o.Assets, o.Clients, o.Runs, o.MinRatio = smokeAssets, smokeClients, 1, smokeMinRatio
	}
	return o, o.check(f.Args())
}

func (o settings) check(rest []string) error {
	_, known := layouts[o.Layout]
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.Assets < 1 || o.Clients < 1 || o.Runs < 1 || o.Replicas < 1:
		return errors.New("-n, -clients, -runs and -replicas must be at least 1")
	case !slices.Contains([]string{embedded, inContainers, running, auto}, o.Stores):
		return fmt.Errorf("-stores %q: embedded, containers, auto or running", o.Stores)
	case !known:
		return fmt.Errorf("-layout %q: hashed or flat", o.Layout)
	}
	return nil
}

// start starts the stores that all repetitions share, where there are any. Their end is close.
func (o *settings) start(ctx context.Context) (err error) {
	if o.Stores == inContainers || o.Stores == auto {
		o.servers, err = startServers(ctx)
		switch {
		case err == nil:
			o.Stores, o.PIDs = inContainers, o.servers.pids
		case o.Stores == auto && errors.Is(err, containers.ErrUnavailable):
			line, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(os.Stderr, "on embedded stores, as containers %s\n", line)
			o.Stores = embedded
		default:
			return err
		}
	}
	if o.Warm < 0 {
		o.Warm = 0
		if o.servers != nil {
			o.Warm = jvmWarm
		}
	}
	return nil
}

func (o *settings) close() error {
	if o.servers == nil {
		return nil
	}
	return o.servers.remove()
}
