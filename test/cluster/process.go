package cluster

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/test/containers"
	"github.com/tombstone-project/tombstone/test/stores"
)

// messageKey signs the messages of every cluster.
const messageKey = "for-tests-only-for-tests-only-for-tests-only"

// stopTime is how long a process may take to end when it is asked to. Its own parts have 20 s each.
const stopTime = time.Minute

// Process is one process of a service. It keeps its address and its log over restarts.
type Process struct {
	*client.Client
	Name string
	URL  string

	t       *testing.T
	role    Role
	binary  string
	env     []string
	logPath string

	mu     sync.Mutex // one change at a time
	cmd    *exec.Cmd  // nil: does not run
	end    *end
	frozen bool
}

// Start starts one more process of a role. Its addresses of the stores may differ from the cluster's: proxies. It is
// stopped with the test, and must then end well.
func (c *Cluster) Start(role Role, s *stores.Stores) *Process {
	c.t.Helper()
	name := fmt.Sprintf("%s-%d", role, len(c.With(role))+1)
	listen := freePort(c.t)
	p := &Process{Name: name, URL: "http://" + listen, t: c.t, role: role, binary: c.binary, logPath: filepath.Join(c.t.ArtifactDir(), name+".log")}
	p.env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+s.Access, "AWS_SECRET_ACCESS_KEY="+s.Secret,
		"TOMBSTONE_LISTEN="+listen, "TOMBSTONE_POLICY="+c.policy, "TOMBSTONE_NAMESPACE="+s.Namespace,
		"TOMBSTONE_GRAPH_URI="+s.GraphURI, "TOMBSTONE_GRAPH_USER="+s.GraphUser, "TOMBSTONE_GRAPH_PASSWORD="+s.GraphPassword,
		"TOMBSTONE_NATS_URL="+containers.BrokerUser(c.t, s.NATS, string(role)), "TOMBSTONE_MESSAGE_KEY="+messageKey, "TOMBSTONE_DOCUMENTS_URI="+s.DocumentsURI, "TOMBSTONE_BLOBS_ENDPOINT="+s.Endpoint, "TOMBSTONE_BLOBS_REGION="+s.Region)
	p.env = append(p.env, c.Env...)
	var err error
	if p.Client, err = client.New(p.URL, "", client.WithTimeout(15*time.Second)); err != nil {
		c.t.Fatal(err)
	}
	c.processes = append(c.processes, p)
	p.Restart()
	c.t.Cleanup(func() {
		p.Thaw()
		p.Stop()
		if c.t.Failed() {
			c.t.Logf("the last lines of %s:\n%s", name, p.Tail(40))
		}
	})
	return p
}

// Restart starts the process unless it runs.
func (p *Process) Restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return
	}
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Errorf("%s: %v", p.Name, err)
		return
	}
	defer log.Close() // the process has its own
	cmd := exec.Command(p.binary, "serve", string(p.role))
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.env, log, log, dieWithUs()
	if err := cmd.Start(); err != nil {
		p.t.Errorf("start %s: %v", p.Name, err)
		return
	}
	p.cmd, p.end = cmd, &end{wanted: make(chan struct{}), came: make(chan struct{})}
	go p.end.watch(p.t, p.Name, cmd)
}

// end is that of one run of a process.
type end struct {
	wanted chan struct{} // closed before the process is told
	came   chan struct{} // closed after it ended
	err    error         // how it ended; set before came is closed
}

// watch waits for the end, and reports one that nobody wants.
func (e *end) watch(t *testing.T, name string, cmd *exec.Cmd) {
	e.err = cmd.Wait()
	select {
	case <-e.wanted:
	default:
		t.Errorf("%s ended by itself: %v", name, e.err)
	}
	close(e.came)
}

// Kill ends the process at once, as a crash does; it does nothing when it does not run.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	close(p.end.wanted)
	p.signal(syscall.SIGKILL)
	<-p.end.came
	p.cmd, p.frozen = nil, false
}

// Stop asks the process to end, and wants it to end well.
func (p *Process) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	close(p.end.wanted)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.end.came:
		if p.end.err != nil {
			p.t.Errorf("%s ended with %v", p.Name, p.end.err)
		}
	case <-time.After(stopTime):
		p.t.Errorf("%s does not end", p.Name)
		p.signal(syscall.SIGKILL)
		<-p.end.came
	}
	p.cmd, p.frozen = nil, false
}

// Freeze stops the process where it is: its connections stay open, and it does nothing.
func (p *Process) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && !p.frozen {
		p.frozen = true
		p.signal(syscall.SIGSTOP)
	}
}

// Thaw lets it go on where it was.
func (p *Process) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.frozen {
		p.frozen = false
		p.signal(syscall.SIGCONT)
	}
}

func (p *Process) isFrozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen
}

func (p *Process) signal(sig syscall.Signal) {
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Errorf("%s to %s: %v", sig, p.Name, err)
	}
}

// Log is everything that the process wrote.
func (p *Process) Log() []byte {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		p.t.Errorf("log of %s: %v", p.Name, err)
	}
	return text
}

// Tail is the last lines of the log.
func (p *Process) Tail(n int) string {
	lines := bytes.Split(bytes.TrimSpace(p.Log()), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}

// freePort gives an address that stays free while a process is down: its port is below those that systems give to
// outgoing connections.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}
