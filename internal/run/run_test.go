package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var quiet = slog.New(slog.DiscardHandler)

func TestPartsStopInReverseOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	var mu sync.Mutex
	var stopped []string
	part := func(name string) Part {
		return Part{name, func(ctx context.Context) error {
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			stopped = append(stopped, name)
			return ctx.Err()
		}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Until(ctx, quiet, time.Minute, part("store"), part("worker"), part("http")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"http", "worker", "store"}; !slices.Equal(stopped, want) {
		t.Errorf("stopped in the order %v, want %v", stopped, want)
	}
}

func TestOnePartThatFailsStopsTheOthersAndIsTheError(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := errors.New("the port is taken")
	other := false
	err := Until(context.Background(), quiet, time.Minute,
		Part{"other", func(ctx context.Context) error { <-ctx.Done(); other = true; return nil }},
		Part{"http", func(context.Context) error { return broken }})
	if !errors.Is(err, broken) || !other {
		t.Errorf("error %v, other part stopped: %v", err, other)
	}
}

func TestPartThatDoesNotStopIsNamed(t *testing.T) {
	free := make(chan struct{})
	defer close(free)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Until(ctx, quiet, time.Millisecond, Part{"stubborn", func(context.Context) error { <-free; return nil }})
	if err == nil || !strings.Contains(err.Error(), "stubborn did not stop") {
		t.Errorf("error %v", err)
	}
}

func TestPartThatReturnsByItselfEndsTheRun(t *testing.T) {
	err := Until(context.Background(), quiet, time.Minute, Part{"short", func(context.Context) error { return nil }})
	if err == nil || !strings.Contains(err.Error(), "short stopped by itself") {
		t.Errorf("error %v", err)
	}
}
