package dependency

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

const (
	importBatch  = 500     // assets a transaction
	maxLine      = 1 << 20 // bytes
	errorsShown  = 100
	linkBatchMax = 2000 // links a transaction
)

// ImportLine is one line of an import: a Put with its id.
type ImportLine struct {
	ID string `json:"id"`
	Put
}

// ImportAssets reads one asset a line. Memory is bounded by one batch: links wait in a temporary file until every asset
// is there, since a line may link to a later one.
func (s *Service) ImportAssets(ctx context.Context, lines io.Reader) (ImportResult, error) {
	by, err := caller(ctx)
	if err != nil {
		return ImportResult{}, err
	}
	spool, err := newSpool()
	if err != nil {
		return ImportResult{}, err
	}
	defer spool.remove()
	im := &importer{s: s, by: by, spool: spool, result: ImportResult{Errors: []ImportError{}}}
	if err := im.assets(ctx, lines); err != nil {
		return im.result, err
	}
	return im.result, im.links(ctx)
}

type importer struct {
	s      *Service
	by     Caller
	spool  *spool
	result ImportResult
	items  []putItem
	lines  []int
	held   []*[]LinkTo // the links of each item, kept back
}

// refuse notes a line that failed.
func (im *importer) refuse(line int, id string, err error) error {
	p := problem.As(err)
	if p == nil {
		return err
	}
	if p.Name == problem.Unavailable {
		return err
	}
	im.result.Failed++
	if len(im.result.Errors) < errorsShown {
		detail := p.Detail
		if p.Field != "" {
			detail = p.Field + ": " + detail
		}
		im.result.Errors = append(im.result.Errors, ImportError{Line: line, ID: id, Type: "/problems/" + string(p.Name), Detail: detail})
	}
	return nil
}

// assets is the first pass: every line's asset, without its links.
func (im *importer) assets(ctx context.Context, lines io.Reader) error {
	in := bufio.NewReaderSize(lines, 64<<10)
	for n := 1; ; n++ {
		text, tooLong, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d of the import: %w", n, err)
		}
		end := errors.Is(err, io.EOF)
		if tooLong {
			err = im.refuse(n, "", problem.New(problem.PayloadTooLarge, "the line is longer than 1 MiB"))
		} else if len(bytes.TrimSpace(text)) > 0 {
			err = im.line(n, text)
		} else {
			err = nil
		}
		if err == nil && (end || len(im.items) >= importBatch) {
			err = im.flush(ctx)
		}
		if err != nil || end {
			return err
		}
	}
}

// readLine reads up to a line feed; a line over the limit is skipped to its end.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > maxLine {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

func (im *importer) line(n int, text []byte) error {
	l, err := readAsset(text)
	if err != nil {
		return im.refuse(n, l.ID, err)
	}
	item, err := im.s.checkPut(im.by, l.ID, l.Put)
	if err != nil {
		return im.refuse(n, l.ID, err)
	}
	im.held = append(im.held, item.put.Links)
	item.put.Links = nil
	im.items, im.lines = append(im.items, item), append(im.lines, n)
	return nil
}

// maxNesting is how deep the objects and arrays of a line may be nested: deeper ones are more than many readers take.
const maxNesting = 128

// readAsset reads one line; a refusal has what could be read.
func readAsset(text []byte) (ImportLine, error) {
	var l ImportLine
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&l)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		field := strings.ReplaceAll(wrong.Field, "Put.", "") // the name of a Go type
		return l, problem.New(problem.InvalidRequest, "a JSON %s does not belong there", wrong.Value).At(field)
	case err != nil:
		return l, problem.New(problem.InvalidRequest, "not an asset in JSON: %v", err)
	case dec.More():
		return l, problem.New(problem.InvalidRequest, "more than one JSON value on the line")
	}
	if err := events.CheckJSON(text, maxNesting); err != nil {
		return l, problem.New(problem.InvalidRequest, "not an asset in JSON: %v", err)
	}
	return l, checkMembers(text)
}

// checkMembers refuses names in another case: they would mean the same to us, and something else to others.
func checkMembers(text []byte) error {
	var line map[string]json.RawMessage
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	for name := range line {
		if !slices.Contains([]string{"id", "kind", "owner", "attributes", "links", "bytes"}, name) {
			return unknownMember(name)
		}
	}
	var links []map[string]json.RawMessage
	if list, ok := line["links"]; ok {
		if err := json.Unmarshal(list, &links); err != nil {
			return err
		}
	}
	for _, link := range links {
		for name := range link {
			if name != "type" && name != "to" {
				return unknownMember(name)
			}
		}
	}
	return nil
}

func unknownMember(name string) error {
	return problem.New(problem.InvalidRequest, "not an asset in JSON: unknown member %q; names are exact, their case too", name).At(name)
}

// flush writes the gathered assets in one transaction and keeps their links for the second pass.
func (im *importer) flush(ctx context.Context) error {
	if len(im.items) == 0 {
		return nil
	}
	results, err := im.s.put(ctx, im.items)
	if err != nil {
		return err
	}
	for i, r := range results {
		if r.err != nil {
			if err := im.refuse(im.lines[i], im.items[i].id, r.err); err != nil {
				return err
			}
			continue
		}
		im.count(r.outcome, 1)
		if im.held[i] == nil {
			continue
		}
		it := im.items[i]
		// Only the links: what else the line says is in the graph, and may have been changed since.
		links := Put{Kind: it.put.Kind, Owner: it.put.Owner, Links: im.held[i]}
		if err := im.spool.write(spooled{Line: im.lines[i], ID: it.id, Put: links, Outcome: r.outcome}); err != nil {
			return err
		}
	}
	im.items, im.lines, im.held = nil, nil, nil
	return nil
}

func (im *importer) count(o Outcome, n int) {
	if o == Created {
		im.result.Created += n
	} else {
		im.result.Changed += n
	}
}

// links is the second pass. A line whose links are refused counts as failed, although its asset is there.
func (im *importer) links(ctx context.Context) error {
	return im.spool.each(func(batch []spooled) error {
		items := make([]putItem, len(batch))
		for i, sp := range batch {
			item, err := im.s.checkPut(im.by, sp.ID, sp.Put)
			if err != nil {
				return err
			}
			item.linksOnly = true
			items[i] = item
		}
		results, err := im.s.put(ctx, items)
		if err != nil {
			return err
		}
		for i, r := range results {
			if r.err == nil {
				continue
			}
			im.count(batch[i].Outcome, -1)
			if p := problem.As(r.err); p != nil {
				r.err = problem.New(p.Name, "the asset is there, but its links were refused: %s", p.Detail).At(p.Field)
			}
			if err := im.refuse(batch[i].Line, batch[i].ID, r.err); err != nil {
				return err
			}
		}
		return nil
	})
}
