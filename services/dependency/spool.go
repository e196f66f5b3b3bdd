package dependency

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// spooled is one asset whose links are still to be made.
type spooled struct {
	Line    int
	ID      string
	Put     Put
	Outcome Outcome
}

// spool keeps them on disk.
type spool struct {
	file *os.File
	out  *bufio.Writer
	enc  *json.Encoder
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "tombstone-import-*")
	if err != nil {
		return nil, fmt.Errorf("create the spool of an import (set TMPDIR to a writable folder): %w", err)
	}
	out := bufio.NewWriter(f)
	return &spool{file: f, out: out, enc: json.NewEncoder(out)}, nil
}

func (sp *spool) write(s spooled) error {
	if err := sp.enc.Encode(s); err != nil {
		return fmt.Errorf("write the spool of an import: %w", err)
	}
	return nil
}

// each reads everything back, in batches bounded by assets and by links.
func (sp *spool) each(do func([]spooled) error) error {
	if err := sp.out.Flush(); err != nil {
		return fmt.Errorf("write the spool of an import: %w", err)
	}
	if _, err := sp.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the spool of an import: %w", err)
	}
	dec := json.NewDecoder(bufio.NewReader(sp.file))
	var batch []spooled
	links := 0
	for {
		var s spooled
		err := dec.Decode(&s)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return fmt.Errorf("read the spool of an import: %w", err)
		}
		if !end {
			batch = append(batch, s)
			links += len(*s.Put.Links)
		}
		if len(batch) > 0 && (end || len(batch) == importBatch || links >= linkBatchMax) {
			if err := do(batch); err != nil {
				return err
			}
			batch, links = nil, 0
		}
		if end {
			return nil
		}
	}
}

func (sp *spool) remove() {
	sp.file.Close()
	os.Remove(sp.file.Name())
}
