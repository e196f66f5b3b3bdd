package neo4j

import (
	"context"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/test/containers"
)

func TestATransactionHasTheTimeOfItsContextUpToTheTimeout(t *testing.T) {
	a := containers.Neo4j(t)
	for name, c := range map[string]struct{ timeout, context, want time.Duration }{
		"a long request":                  {timeout: 2 * time.Hour, context: time.Hour, want: time.Hour},
		"a short request":                 {timeout: 2 * time.Hour, context: 10 * time.Minute, want: 10 * time.Minute},
		"one that has longer, as imports": {timeout: time.Hour, context: 6 * time.Hour, want: time.Hour},
		"a short timeout":                 {timeout: time.Second, context: time.Hour, want: leastTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := Open(t.Context(), Config{URI: a.URI, User: a.User, Password: a.Password, Timeout: c.timeout,
				Names: policy.Graph{Label: "Asset", ID: "id", Kind: "kind", Owner: "owner"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = g.Close(t.Context()) }()
			for of, run := range map[string]func(context.Context, func(dependency.Tx) error) error{"update": g.Update, "view": g.View} {
				ctx, cancel := context.WithTimeout(t.Context(), c.context)
				before := time.Now()
				var deadline time.Time
				err := run(ctx, func(x dependency.Tx) error {
					deadline = x.(*tx).deadline
					return nil
				})
				cancel()
				if latest := time.Now().Add(c.want); err != nil || deadline.After(latest) || deadline.Before(before.Add(c.want-time.Minute)) {
					t.Errorf("%s: it has until %v, want %v from now; %v", of, time.Until(deadline), c.want, err)
				}
			}
		})
	}
}
