package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tombstone-project/tombstone/problem"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // refused or failed; one line on standard error says why
	exitUsage  = 2
)

// grammar is the command line: one field for each command, one file for each field.
type grammar struct {
	devGrammar // dev, where the build has it

	Serve serveCmd `cmd:"" help:"Run the services against real stores."`

	Delete deleteCmd `cmd:"" help:"Ask for the deletion of assets."`
	Status statusCmd `cmd:"" help:"Show an asset."`
	Import importCmd `cmd:"" help:"Create or change assets in bulk."`

	Explain explainCmd `cmd:"" help:"Tell what a deletion waits for."`
	Cancel  cancelCmd  `cmd:"" help:"Take a scheduled deletion back."`
	Audit   auditCmd   `cmd:"" help:"List the audit trail of an asset, or of all."`
	Receipt receiptCmd `cmd:"" help:"Get or verify the signed statement of what a deletion erased."`

	Pending pendingCmd `cmd:"" help:"List command flags that are not sent yet."`
	Replay  replayCmd  `cmd:"" help:"Publish command flags now."`
	Stalled stalledCmd `cmd:"" help:"List deletions past their deadline, blocked or failing."`
	Retry   retryCmd   `cmd:"" help:"Drive stalled deletions now."`
	Force   forceCmd   `cmd:"" help:"Give up a part whose store is gone for good."`

	Verify    verifyCmd    `cmd:"" help:"Hold the running system to its guarantees."`
	Retention retentionCmd `cmd:"" help:"Find what has expired, and let it go."`
	Sweep     sweepCmd     `cmd:"" help:"Find what belongs to nobody, and remove it."`

	Hold    holdCmd    `cmd:"" help:"Put an asset under legal hold."`
	Release releaseCmd `cmd:"" help:"End a legal hold."`
	Pause   pauseCmd   `cmd:"" help:"Stop physical deletion."`
	Resume  resumeCmd  `cmd:"" help:"Go on with physical deletion."`

	Policy  policyCmd  `cmd:"" help:"Work with policies."`
	Doctor  doctorCmd  `cmd:"" help:"Look whether the service and its stores answer."`
	Version versionCmd `cmd:"" help:"Tell what this binary is."`

	Completion completionCmd `cmd:"" help:"Make a shell complete command lines."`
	Complete   completeCmd   `cmd:"" hidden:"" help:"What the scripts of completion ask."`
}

// program is what a command may use of the world.
type program struct {
	ctx context.Context
	in  io.Reader
	out io.Writer // remembers that a write has failed: see output
	err io.Writer
	// watched: standard error is a terminal, so there is somebody to be told how work goes on.
	watched bool
}

// printed is the error of what was printed so far.
func (p *program) printed() error {
	if out, ok := p.out.(*output); ok {
		return out.err
	}
	return nil
}

// complain prints one line on standard error, whatever the text holds.
func (p *program) complain(format string, args ...any) {
	_, _ = fmt.Fprintln(p.err, "tombstone: "+safe(strings.TrimSpace(fmt.Sprintf(format, args...))))
}

// usageError is a command line that cannot be carried out.
type usageError string

func (e usageError) Error() string { return string(e) }

// errTold is a failure that was told already.
var errTold = errors.New("told")

// helped ends the parser after help was printed.
type helped struct{}

// run carries out one command line and gives the exit code. What could not be printed was not done.
func run(p *program, args []string) int {
	out := &output{to: p.out}
	p.out = out
	code := parseAndRun(p, args)
	if code == exitDone && out.err != nil {
		return p.exitCode(out.err)
	}
	return code
}

func parseAndRun(p *program, args []string) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(helped); !ok {
				panic(fault)
			}
			code = exitDone
		}
	}()
	parser, err := newParser(p)
	if err != nil {
		p.complain("%s", err)
		return exitFailed
	}
	command, err := parser.Parse(args)
	switch {
	case p.printed() != nil: // it was to print help
		return p.exitCode(p.printed())
	case err != nil:
		p.complain("%s; tombstone --help tells more", err)
		return exitUsage
	}
	return p.exitCode(command.Run())
}

// newParser makes the parser of a command line that p carries out.
func newParser(p *program) (*kong.Kong, error) {
	return kong.New(&grammar{}, kong.Name("tombstone"), kong.Description("Deletes assets that live in a graph, a document store and an object store."),
		kong.Writers(p.out, p.err), kong.Exit(func(int) { panic(helped{}) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Bind(p))
}

// exitCode tells what went wrong and gives the code for it.
func (p *program) exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		p.complain("%s; --help tells more", err)
		return exitUsage
	case errors.Is(err, errTold):
	case problem.As(err) != nil:
		p.complain("%s", refusal(problem.As(err)))
	default:
		p.complain("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return exitFailed
}
