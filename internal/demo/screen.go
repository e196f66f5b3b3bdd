package demo

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
)

// Screen shows what happens, in lines; and how far long work is, as a bar where there is a terminal for it.
type Screen struct {
	out io.Writer
	bar io.Writer
}

// NewScreen writes lines to out and draws bars on the terminal bar, which is nil where there is none.
func NewScreen(out, bar io.Writer) Screen { return Screen{out: out, bar: bar} }

// Say writes a line.
func (s Screen) Say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// Progress shows work of n steps; the function it gives is called after each.
func (s Screen) Progress(title string, n int) (step func()) {
	if s.bar == nil {
		s.Say("%s …", title)
		return func() {}
	}
	bar := progressbar.NewOptions(n, progressbar.OptionSetWriter(s.bar), progressbar.OptionSetDescription(title),
		progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	return func() {
		if err := bar.Add(1); err != nil { // drawing only: the work goes on without it
			return
		}
	}
}
