package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// envRole tells a process that the benchmark starts which part it plays.
const envRole = "TOMBSTONE_BENCH_ROLE"

// The parts.
const (
	roleStores   = "stores"
	roleServices = "services"
)

// stopPatience is how long a process may take to stop.
const stopPatience = 60 * time.Second

// child is a process of the benchmark: this binary again. It ends when its standard input does, so also when we die.
type child struct {
	role  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// startChild starts a part and reads the first line that it prints, in JSON, into ready.
func startChild(role string, env map[string]string, ready any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{role: role, cmd: exec.Command(self)}
	c.cmd.Env = append(os.Environ(), envRole+"="+role)
	for name, value := range env {
		c.cmd.Env = append(c.cmd.Env, name+"="+value)
	}
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not start: %w", role, err), c.stop())
	}
	return c, nil
}

// tell sends a line to the process: see obey.
func (c *child) tell(line string) error {
	_, err := fmt.Fprintln(c.stdin, line)
	return err
}

// stop ends the process and waits for it; a second call does nothing.
func (c *child) stop() error {
	if c == nil || c.cmd.ProcessState != nil {
		return nil
	}
	_ = c.stdin.Close() // it fails when the process has ended already
	late := time.AfterFunc(stopPatience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", c.role, err)
	}
	return nil
}

// serve is the life of such a process.
func serve(ctx context.Context, role string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		obey(os.Stdin)
	}()
	switch role {
	case roleStores:
		return serveStores(ctx)
	case roleServices:
		return serveServices(ctx)
	}
	return fmt.Errorf("%s=%s: no such part", envRole, role)
}

// announce prints the line that startChild waits for.
func announce(ready any) error { return json.NewEncoder(os.Stdout).Encode(ready) }
