package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// eventStream is the media type of server-sent events.
const eventStream = "text/event-stream"

// longestEvent bounds one line of a stream, in bytes.
const longestEvent = 1 << 20

// Follow hands every entry of a deletion's trail to each as it comes, those that are there already first, and returns nil
// after the one that ends the deletion. It has no time limit but that of the context. A stream that breaks off is an error;
// following again begins with the first entry.
func (c *Client) Follow(ctx context.Context, deletion string, each func(dependency.AuditItem) error) error {
	res, err := c.open(ctx, request{method: http.MethodGet, path: deletionPath(deletion, "events"), header: http.Header{"Accept": {eventStream}}})
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || !isMedia(res.Header.Get("Content-Type"), eventStream) {
		if _, err := c.read(res, "application/json"); err != nil {
			return err
		}
		return c.stranger(res)
	}
	return c.events(ctx, res.Body, each)
}

// events reads a stream. Lines that are no data keep the connection open and say nothing.
func (c *Client) events(ctx context.Context, stream io.Reader, each func(dependency.AuditItem) error) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, longestEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var item dependency.AuditItem
		if err := json.Unmarshal([]byte(data), &item); err != nil {
			return c.strange(err)
		}
		if err := each(item); err != nil {
			return err
		}
		if item.Type == events.TypeDeletionCompleted || item.Type == events.TypeDeletionCancelled {
			return nil
		}
	}
	if err := errors.Join(lines.Err(), ctx.Err()); err != nil {
		return c.unreachable(err)
	}
	return fmt.Errorf("%s ended the stream before the deletion has ended: follow it again", c.base)
}
