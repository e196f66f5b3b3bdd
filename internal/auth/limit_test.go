package auth

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// byToken takes the token for the subject, and knows no other.
type byToken struct{}

func (byToken) Authenticate(r *http.Request) (dependency.Caller, error) {
	token, ok := bearer(r.Header.Get("Authorization"))
	if !ok {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "who?")
	}
	return dependency.Caller{Subject: token, Owner: "o", Operator: token == "op"}, nil
}

func TestACallerThatAsksTooOftenIsAskedToWait(t *testing.T) {
	a := Limited(byToken{}, Rate{PerSecond: 0.5, Burst: 3}).(*limiter)
	clock := time.Now()
	a.now = func() time.Time { return clock }
	for _, subject := range []string{"alice", "op"} { // operators too
		for range 3 {
			if _, err := who(a, subject); err != nil {
				t.Fatalf("%s, within the limit: %v", subject, err)
			}
		}
		for range 5 { // refusals do not count
			_, err := who(a, subject)
			if p := problem.As(err); !errors.Is(err, problem.RateLimited) || p.Members["retry_after"] != 2 {
				t.Fatalf("%s, above it: %v", subject, err)
			}
		}
	}
	if _, err := who(a, "bob"); err != nil {
		t.Errorf("another caller: %v", err)
	}
	if _, err := a.Authenticate(requestTo("x", "")); !errors.Is(err, problem.Unauthenticated) {
		t.Errorf("nobody: %v", err)
	}
	clock = clock.Add(2 * time.Second)
	if _, err := who(a, "alice"); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	if _, err := who(a, "alice"); !errors.Is(err, problem.RateLimited) {
		t.Errorf("at once again: %v", err)
	}
}

func TestCallersAreForgottenWhenThereAreTooMany(t *testing.T) {
	a := Limited(byToken{}, Rate{PerSecond: 1, Burst: 1}).(*limiter)
	clock := time.Now()
	a.now = func() time.Time { return clock }
	for i := range 3 * rememberedCallers {
		if wait := a.wait(dependency.Caller{Subject: fmt.Sprint(i)}); wait > 0 {
			t.Fatalf("request of caller %d: %v", i, wait)
		}
		if n := len(a.young) + len(a.old); n > rememberedCallers {
			t.Fatalf("%d callers are remembered", n)
		}
		if wait := a.wait(dependency.Caller{Subject: "busy"}); i > 0 && wait == 0 { // one that goes on asking is not forgotten
			t.Fatalf("request %d of the busy one passes", i)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]Rate{"50": {50, 100}, "0.2": {0.2, 1}, "10/3": {10, 3}, "0": {0, 1}} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "fast", "-1", "NaN", "Inf", "1e9", "1/0", "1/x", "1/", "/5"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if a := Limited(byToken{}, Rate{}); a != (byToken{}) {
		t.Errorf("without a limit: %T", a)
	}
}
