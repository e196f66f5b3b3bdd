package auth

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// Rate is how often one caller may ask. The zero value sets no limit.
type Rate struct {
	PerSecond float64
	// Burst is how many requests may come at once after a rest.
	Burst int
}

// ParseRate reads `N` or `N/BURST`: requests a second, and how many at once (default: those of two seconds, at least one). 0 is no limit.
func ParseRate(value string) (Rate, error) {
	first, second, both := strings.Cut(value, "/")
	n, err := strconv.ParseFloat(first, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n > 1e6 {
		return Rate{}, errors.New("write requests a second, like 50, or 50/200 for 200 at once; 0 for no limit")
	}
	burst := max(1, int(2*n))
	if both {
		if burst, err = strconv.Atoi(second); err != nil || burst < 1 || burst > 1e6 {
			return Rate{}, errors.New("write how many requests may come at once behind the /, at least 1, like 50/200")
		}
	}
	return Rate{PerSecond: n, Burst: burst}, nil
}

// rememberedCallers bounds the callers whose requests are counted; those that have not asked for longest are forgotten, and begin
// anew.
const rememberedCallers = 10_000

// limiter refuses callers that ask too often, whoever they are.
type limiter struct {
	Authenticator
	rate Rate
	now  func() time.Time

	mu         sync.Mutex
	young, old map[dependency.Caller]*rate.Limiter // a caller moves to young when it asks; old is dropped when young is full
}

// Limited is a with a limit for each caller. Beyond it the refusal is problem.RateLimited. Requests whose caller is not known do not
// count.
func Limited(a Authenticator, r Rate) Authenticator {
	if r.PerSecond == 0 {
		return a
	}
	return &limiter{Authenticator: a, rate: r, now: time.Now, young: map[dependency.Caller]*rate.Limiter{}}
}

// Authenticate counts the request.
func (l *limiter) Authenticate(r *http.Request) (dependency.Caller, error) {
	caller, err := l.Authenticator.Authenticate(r)
	if err != nil {
		return caller, err
	}
	if wait := l.wait(caller); wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		return dependency.Caller{}, problem.New(problem.RateLimited, "no more than %s requests a second: try again in %d s",
			strconv.FormatFloat(l.rate.PerSecond, 'f', -1, 64), seconds).With("retry_after", seconds)
	}
	return caller, nil
}

// wait is how long a caller must wait; 0 when its request may pass, and is counted then.
func (l *limiter) wait(caller dependency.Caller) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted, ok := l.young[caller]
	if !ok {
		if counted, ok = l.old[caller]; !ok {
			counted = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		}
		if len(l.young) >= rememberedCallers/2 {
			l.young, l.old = map[dependency.Caller]*rate.Limiter{}, l.young
		}
		l.young[caller] = counted
	}
	now := l.now()
	asked := counted.ReserveN(now, 1)
	wait := asked.DelayFrom(now)
	if wait > 0 {
		asked.CancelAt(now)
	}
	return wait
}
