// Command tombstone deletes assets that live in a graph, a document store and an object store. It runs the services, and
// speaks to running ones.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(&program{ctx: ctx, in: os.Stdin, out: os.Stdout, err: os.Stderr, watched: term.IsTerminal(int(os.Stderr.Fd()))}, os.Args[1:])
	stop()
	os.Exit(code)
}
