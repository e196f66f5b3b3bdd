package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Set by the linker: -ldflags "-X main.version=v1.2.3 -X main.commit=…". Builds without them tell what Go knows.
var (
	version string
	commit  string
)

// versionCmd tells what this binary is.
type versionCmd struct {
	JSON bool `help:"Print it as JSON."`
}

// Help has examples.
func (*versionCmd) Help() string { return examples("tombstone version", "tombstone version --json") }

// build is what is known about this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// thisBuild reads the linker's values, else what the Go tool noted.
func thisBuild() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if ok && b.Version == "" {
		b.Version = info.Main.Version
	}
	if ok && b.Commit == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if b.Commit == "" {
		b.Commit = "unknown"
	}
	return b
}

// Run prints it.
func (c *versionCmd) Run(p *program) error {
	b := thisBuild()
	if c.JSON {
		return json.NewEncoder(p.out).Encode(b)
	}
	_, err := fmt.Fprintf(p.out, "tombstone %s, commit %s, %s\n", b.Version, b.Commit, b.Go)
	return err
}
