package asset_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/services/asset"
)

// TestWhoMayHaveAnOpenBatch lets the look after the deleting fail, so that the next delivery finds nothing: whom it goes to
// decides whether that is believed.
func TestWhoMayHaveAnOpenBatch(t *testing.T) {
	for name, test := range map[string]struct {
		later    time.Duration
		attempt  int
		another  bool // process
		believed bool
	}{
		"the next delivery to the same process":                          {attempt: 2, believed: true},
		"one to the same process, after one to another":                  {attempt: 3},
		"another command, to the same process":                           {attempt: 1},
		"the next delivery to another process":                           {attempt: 2, another: true},
		"one to another process, when no batch can be open any more":     {later: 30 * time.Second, attempt: 2, another: true, believed: true},
		"one to another process, when there may be one for a second yet": {later: 29 * time.Second, attempt: 2, another: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mesh("a", gen1)
			c := w.command("mesh", "a", gen1)
			lists := 0
			w.steps.set(func(_ context.Context, m moment) error {
				if m.call.Store == "blobs" && m.call.Method == "List" && m.call.Bucket == "assets" && !m.after {
					if lists++; lists == 2 {
						return errLost
					}
				}
				return nil
			})
			eraser := asset.NewEraser(w.config)
			if err := eraser.Handle(t.Context(), envelope(), c, 1); !errors.Is(err, errLost) {
				t.Fatalf("handle: %v, want %v", err, errLost)
			}
			w.later(test.later)
			if test.another {
				eraser = asset.NewEraser(w.config)
			}
			err := eraser.Handle(t.Context(), envelope(), c, test.attempt)
			if believed := err == nil; believed != test.believed || asset.AsBlocked(err) != nil {
				t.Errorf("%v, want it believed: %t", err, test.believed)
			}
			w.same("what is stored", len(w.stored()), 0)
		})
	}
}
