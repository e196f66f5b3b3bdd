// Command bench measures how fast deletions go, side by side with the least that the same stores must do for the same work.
//
// An asset is a node, one document and three objects, of which one has two versions. In each run, on fresh stores:
//
//	bare floor   the nodes' status is written in batches, the documents are deleted in bulk, the bucket is listed once and
//	             emptied with calls of 1,000 keys; all three at once, without saga, broker, HTTP or any guarantee
//	proved floor the same, and what the guarantees need whatever the design: the records of T1 first, an inventory before
//	             anything is deleted, a fresh look that all is gone, and the records of T4 last; in bulk, one step after the other
//	tombstone    many clients send DELETE for every asset, until every deletion is `deleted`
//
// and all until the stores are seen empty by a listing. The ratios say how close the product is to what these
// stores can do; numbers alone say more of the machine. Stores, services and clients are processes of their own, so that CPU
// time and memory can be told apart. What is left over or lost fails the run.
//
//	go run ./bench                        2,000 assets, 64 clients, 3 runs, on embedded stores
//	go run ./bench -smoke                 some seconds, to see that it works
//	go run ./bench -n 3000 -objects 1,3,100,25000
//	                                      objects a second for small and large assets, next to one stream of DeleteObjects calls
//	go run ./bench -replicas 2            two replicas of both services next to one
//	go run ./bench -accept                how fast deletions are accepted, next to bare transactions
//	go run ./bench -n 500 -growth 1000,10000,100000
//	                                      the same number of deletions beside more and more live assets
//	go run ./bench -flags 100000          a start with so many deletions that the broker has not heard of yet
//	go run ./bench -n 20000 -import       the import, next to batched writes into the same graph
//	go run ./bench -stores containers     each store in a container of its own, started here and removed in the end
//	go run ./bench -stores running        on running stores that TOMBSTONE_* and AWS_* name, as for `tombstone serve`
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// start runs the benchmark, or, in a process that the benchmark has started, that process's part.
func start(ctx context.Context) error {
	if role := os.Getenv(envRole); role != "" {
		return serve(ctx, role)
	}
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		return err
	}
	if err := o.start(ctx); err != nil {
		return err
	}
	return errors.Join(o.run(ctx), o.close())
}

// run measures what was asked for.
func (o settings) run(ctx context.Context) error {
	switch {
	case len(o.Objects) > 0:
		return benchObjects(ctx, o)
	case o.Replicas > 1:
		return benchReplicas(ctx, o)
	case o.Accept:
		return benchAccept(ctx, o)
	case len(o.Growth) > 0:
		return benchGrowth(ctx, o)
	case o.Flags > 0:
		return benchFlags(ctx, o)
	case o.Import:
		return benchImport(ctx, o)
	}
	return benchWays(ctx, o)
}

// benchWays measures all ways, side by side.
func benchWays(ctx context.Context, o settings) error {
	report := newReport(o)
	for number := range o.Runs {
		fmt.Fprintf(os.Stderr, "run %d of %d\n", number+1, o.Runs)
		measured, err := measure(ctx, o, number)
		if err != nil {
			return fmt.Errorf("run %d: %w", number+1, err)
		}
		report.Runs = append(report.Runs, measured)
	}
	report.conclude()
	fmt.Print(report.table())
	return errors.Join(writeJSON(o.JSON, report), report.check(o.MinRatio))
}
