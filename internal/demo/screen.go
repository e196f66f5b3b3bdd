package demo

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Screen shows what happens: a bar on a terminal, plain lines elsewhere.
type Screen struct {
	out      io.Writer
	terminal bool
}

// NewScreen looks whether out is a terminal.
func NewScreen(out io.Writer) Screen {
	f, ok := out.(*os.File)
	return Screen{out: out, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// Say writes a line.
func (s Screen) Say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// Progress shows work of n steps; the function it gives is called after each.
func (s Screen) Progress(title string, n int) (step func()) {
	if !s.terminal {
		s.Say("%s …", title)
		return func() {}
	}
	bar := progressbar.NewOptions(n, progressbar.OptionSetWriter(s.out), progressbar.OptionSetDescription(title),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	return func() {
		if err := bar.Add(1); err != nil { // drawing only: the work goes on without it
			return
		}
	}
}
