package dependency

import (
	"context"
	"errors"

	"github.com/tombstone-project/tombstone/internal/batch"
	"github.com/tombstone-project/tombstone/problem"
)

// isolate keeps one bad item from failing its neighbours: when a transaction of several items fails for another reason
// than a graph that does not answer, each is tried in a transaction of its own, and fail turns its error into its result.
func isolate[Q, R any](run batch.Run[Q, R], fail func(error) R) batch.Run[Q, R] {
	return func(ctx context.Context, items []Q) ([]R, error) {
		results, err := run(ctx, items)
		if err == nil || len(items) == 1 || ctx.Err() != nil || errors.Is(err, problem.Unavailable) {
			return results, err
		}
		results = make([]R, len(items))
		for i := range items {
			one, err := run(ctx, items[i:i+1])
			if err != nil {
				results[i] = fail(err)
				continue
			}
			results[i] = one[0]
		}
		return results, nil
	}
}
