package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	err := follow(ctx, c, deletionPath(deletion, "events"), func(item dependency.AuditItem) error {
		if err := each(item); err != nil {
			return err
		}
		if item.Type == events.TypeDeletionCompleted || item.Type == events.TypeDeletionCancelled {
			return errLast
		}
		return nil
	})
	if errors.Is(err, errLast) {
		return nil
	}
	return err
}

// Changes hands each change of any deletion to each as it comes. It has no time limit but that of the context. A stream that
// ends is an error; what changed until it is followed again is not told.
func (c *Client) Changes(ctx context.Context, each func(dependency.Change) error) error {
	return follow(ctx, c, deletionPath("events"), each)
}

// errLast ends a stream after the event that ends what it tells of.
var errLast = errors.New("the last event")

// follow reads a stream until each fails or the stream ends, which is an error too. Lines that are no data keep the
// connection open and say nothing.
func follow[T any](ctx context.Context, c *Client, path string, each func(T) error) error {
	res, err := c.open(ctx, request{method: http.MethodGet, path: path, header: http.Header{"Accept": {eventStream}}})
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
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, longestEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var item T
		if err := json.Unmarshal([]byte(data), &item); err != nil {
			return c.strange(err)
		}
		if err := each(item); err != nil {
			return err
		}
	}
	if err := errors.Join(lines.Err(), ctx.Err()); err != nil {
		return c.unreachable(err)
	}
	return fmt.Errorf("%s ended the stream before its end: follow it again", c.base)
}
