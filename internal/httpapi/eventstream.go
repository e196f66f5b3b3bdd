package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// eventStreamType is the media type of server-sent events.
	eventStreamType = "text/event-stream"
	// heartbeat keeps the connection open where nothing happens for long: proxies cut those that are silent for a minute.
	heartbeat = 15 * time.Second
)

// errReaderLeft says that nobody reads the stream any more.
var errReaderLeft = errors.New("the reader of the events has left")

// eventStream writes server-sent events. It is safe for concurrent use.
type eventStream struct {
	mu       sync.Mutex
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration // with a reader that does not read
}

func newEventStream(w http.ResponseWriter, patience time.Duration) *eventStream {
	return &eventStream{w: w, control: http.NewResponseController(w), patience: patience}
}

// begin sends the header, so that the reader knows at once that it is let in.
func (e *eventStream) begin() error {
	e.w.Header().Set("Content-Type", eventStreamType)
	e.w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back until it has a page of them
	return e.write("")
}

// send writes one event.
func (e *eventStream) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.write("data: " + string(text) + "\n\n")
}

func (e *eventStream) write(text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.control.SetWriteDeadline(time.Now().Add(e.patience)) // writers that have none (in tests) are fine
	_, err := io.WriteString(e.w, text)
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errReaderLeft, err)
	}
	return nil
}

// during runs f while heartbeats go out. The context of f ends when one cannot be sent.
func (e *eventStream) during(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var beats sync.WaitGroup
	defer beats.Wait()
	defer cancel()
	beats.Go(func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if e.write(":\n\n") != nil {
					cancel()
				}
			}
		}
	})
	return f(ctx)
}

// serverEnd is the key of a context that ends when the server stops.
type serverEnd struct{}

// untilServerEnds is ctx, cut short when the server is told to stop: a stream must not keep it from stopping.
func untilServerEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Value(serverEnd{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(end, cancel)
	return ctx, func() { stop(); cancel() }
}
