package s3

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		waits := func() time.Duration {
			began := time.Now()
			if err := p.wait(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		want := func(what string, got, want time.Duration) {
			t.Helper()
			if got != want {
				t.Errorf("%s: waits %v, want %v", what, got, want)
			}
		}
		want("a bucket that says nothing", waits(), 0)
		p.heard(true)
		want("slowed down", waits(), 50*time.Millisecond)
		p.heard(true)
		want("and again", waits(), 100*time.Millisecond)
		for range 20 {
			p.heard(true)
		}
		want("for long", waits(), 5*time.Second)
		p.heard(false)
		want("let through", waits(), 2500*time.Millisecond)
		for range 20 {
			p.heard(false)
		}
		want("for long", waits(), 0)
	})
}

func TestABatchThatCouldNotEndInTimeIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		p.took(100, time.Second, time.Minute)
		if err := p.wait(ctx, 900); err != nil {
			t.Errorf("nine seconds of ten: %v", err)
		}
		if err := p.wait(ctx, 1000); !errors.Is(err, errNoTime) {
			t.Errorf("ten seconds of ten: %v, want %v", err, errNoTime)
		}
	})
}

func TestBatchesShrinkBeforeTheyTimeOut(t *testing.T) {
	var p pace
	for _, c := range []struct {
		elapsed time.Duration
		want    int
	}{{9 * time.Second, 1000}, {11 * time.Second, 500}, {20 * time.Second, 250}, {time.Second, 250}, {20 * time.Second, 125}} {
		p.took(p.batch(), c.elapsed, 20*time.Second)
		if got := p.batch(); got != c.want {
			t.Errorf("after %v: batches of %d, want %d", c.elapsed, got, c.want)
		}
	}
	for range 10 {
		p.took(p.batch(), 20*time.Second, 20*time.Second)
	}
	if got := p.batch(); got != minBatch {
		t.Errorf("in the end: batches of %d, want %d", got, minBatch)
	}
}
