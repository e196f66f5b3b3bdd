package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// importCmd creates or changes assets in bulk.
type importCmd struct {
	remote
	File string `arg:"" help:"One JSON object a line: the body of a PUT with its id. - is standard input."`
}

// Help has examples.
func (*importCmd) Help() string {
	return examples("tombstone import assets.ndjson", "gunzip -c assets.ndjson.gz | tombstone import -")
}

// Run streams the file to the service. Lines that are refused do not stop the rest; they make the exit code 1.
func (c *importCmd) Run(p *program) error {
	api, err := c.dial()
	if err != nil {
		return err
	}
	lines, size, err := c.open(p)
	if err != nil {
		return err
	}
	defer func() { _ = lines.Close() }()
	reader, done := progress(p, lines, size)
	result, err := api.ImportAssets(p.ctx, reader)
	done()
	if err = c.finish(p, err, func() { printImport(p, result) }); err != nil {
		return err
	}
	if result.Failed > 0 {
		return failedLines(result)
	}
	return nil
}

// open gives the lines, and how many bytes they have; -1 when that is not known.
func (c *importCmd) open(p *program) (io.ReadCloser, int64, error) {
	if c.File == "-" {
		return io.NopCloser(p.in), -1, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, 0, err
	}
	size := int64(-1)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return f, size, nil
}

// progress shows on a terminal how far the lines have been sent.
func progress(p *program, lines io.Reader, size int64) (io.Reader, func()) {
	if !p.watched {
		return lines, func() {}
	}
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(p.err), progressbar.OptionSetDescription("importing"),
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return io.TeeReader(lines, bar), func() { _ = bar.Finish() }
}

func printImport(p *program, r dependency.ImportResult) {
	_, _ = fmt.Fprintf(p.out, "%d created, %d changed, %d failed\n", r.Created, r.Changed, r.Failed)
	var rows [][]string
	for _, e := range r.Errors {
		rows = append(rows, []string{fmt.Sprintf("line %d", e.Line), e.ID, e.Type, e.Detail})
	}
	table(p.out, rows...)
}

// failedLines is the one line about lines that were refused.
func failedLines(r dependency.ImportResult) error {
	if len(r.Errors) == 0 {
		return fmt.Errorf("%s failed", count(r.Failed, "line"))
	}
	first := r.Errors[0]
	return fmt.Errorf("%s failed, the first: line %d: %s: %s", count(r.Failed, "line"), first.Line, first.Type, first.Detail)
}
