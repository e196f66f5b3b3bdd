package main

import (
	"embed"
	"io"
)

//go:embed shells
var shells embed.FS

// completionCmd makes shells complete our command lines.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help has examples.
func (*completionCmd) Help() string {
	return examples("source <(tombstone completion bash)   # for this shell; in ~/.bashrc for every one",
		"source <(tombstone completion zsh)   # after compinit", "tombstone completion fish | source")
}

// Run prints the script, which asks tombstone complete.
func (c *completionCmd) Run(p *program) error {
	script, err := shells.Open("shells/" + c.Shell)
	if err != nil {
		return err
	}
	defer func() { _ = script.Close() }()
	_, err = io.Copy(p.out, script)
	return err
}
