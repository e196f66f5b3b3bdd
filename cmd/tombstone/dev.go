//go:build !nodev

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/internal/app"
	"github.com/tombstone-project/tombstone/internal/demo"
)

// devGrammar holds the commands of builds with embedded stores.
type devGrammar struct {
	Dev devCmd `cmd:"" help:"Run everything in one process on embedded stores, to try it out."`
}

// devCmd runs both services on embedded stores.
type devCmd struct {
	Demo bool   `help:"Load a sample library, delete some of it, and show the steps; then go on serving."`
	Data string `placeholder:"DIR" help:"Data folder; taken up again at the next start. Without it a temporary one."`
	commonFlags
	ListenNATS      string `name:"listen-nats" placeholder:"HOST:PORT" help:"Address of the embedded broker (default: a free loopback port)."`
	ListenDocuments string `placeholder:"HOST:PORT" help:"Address of the embedded document store."`
	ListenBlobs     string `placeholder:"HOST:PORT" help:"Address of the embedded object store."`
}

// Help has examples.
func (*devCmd) Help() string {
	return examples("tombstone dev --demo", "tombstone dev --data ./data --policy policy.yaml --listen 127.0.0.1:9000")
}

// Run serves until it is told to stop.
func (c *devCmd) Run(p *program) error {
	cfg, err := c.load(nil)
	if err != nil {
		return err
	}
	level := cfg.LogLevel
	if c.Demo && c.LogLevel == "" && os.Getenv("TOMBSTONE_LOG_LEVEL") == "" {
		level = slog.LevelWarn // the show speaks for itself
	}
	log := newLogger(p.err, level)
	return app.Dev(p.ctx, app.DevOptions{Config: cfg, Data: c.Data, ListenNATS: c.ListenNATS, ListenDocuments: c.ListenDocuments,
		ListenBlobs: c.ListenBlobs, Info: app.Info{Version: thisBuild().Version}, Log: log,
		Ready: func(ctx context.Context, d app.Running) error {
			c.greet(p, d)
			if !c.Demo {
				return nil
			}
			return c.show(ctx, p, d)
		}})
}

// greet prints every address.
func (c *devCmd) greet(p *program, d app.Running) {
	a := d.Addresses
	for _, row := range [][2]string{{"API and page", a.HTTP}, {"graph", a.Graph}, {"documents", a.Documents}, {"broker", a.NATS},
		{"objects", fmt.Sprintf("%s (access key %s, secret key %s)", a.Blobs.Endpoint, a.Blobs.AccessKey, a.Blobs.SecretKey)}} {
		fmt.Fprintf(p.out, "%-13s %s\n", row[0], row[1])
	}
	fmt.Fprintln(p.out)
}

// show runs the demo against the API, as any other program would.
func (c *devCmd) show(ctx context.Context, p *program, d app.Running) error {
	api, err := client.New(d.Addresses.HTTP, os.Getenv("TOMBSTONE_TOKEN"))
	if err != nil {
		return err
	}
	var bar io.Writer
	if p.watched {
		bar = p.err
	}
	screen := demo.NewScreen(p.out, bar)
	show := demo.Demo{API: api, Objects: d.Objects, Policy: d.Policy, Screen: screen, Seed: 1}
	if err := show.Run(ctx); err != nil {
		return err
	}
	screen.Say("")
	screen.Say("Still serving; Ctrl-C stops it. Try:")
	screen.Say("  curl %s/v1/assets?status=live", d.Addresses.HTTP)
	screen.Say("  curl -X DELETE %s/v1/assets/ford", d.Addresses.HTTP)
	return nil
}
