package mongo

import "golang.org/x/sync/errgroup"

// lanes is how many commands of one call are under way at a time.
const lanes = 16

// together calls do for each of n, some at a time, and returns when all are done.
func together(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var g errgroup.Group
	g.SetLimit(lanes)
	for i := range n {
		g.Go(func() error { do(i); return nil })
	}
	_ = g.Wait() // the functions give no errors
}
