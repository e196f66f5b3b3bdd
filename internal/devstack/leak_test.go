package devstack_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestAStopLeavesNothingRunning(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := start(t, t.TempDir())
	if err := s.CreateBuckets(t.Context(), []string{"assets"}); err != nil {
		t.Fatal(err)
	}
	write(t, s.Addresses())
	stop(t, s)
	goleak.VerifyNone(t, before,
		// fasthttp's clock runs for ever, and its pools notice the end at their next round
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}
