package s3

import "sync"

// minBatch is the least that a batch shrinks to.
const minBatch = 10

// sizes is how many keys one request deletes at most, by bucket: all that the protocol takes, and half as many after each
// batch that ran into the timeout, as a store that works off a batch key by key may take too long over a full one. They do
// not grow again: twice the requests cost little, another timeout much.
type sizes struct {
	mu sync.Mutex
	of map[string]int
}

func (s *sizes) get(bucket string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, known := s.of[bucket]; known {
		return n
	}
	return maxBatch
}

// shrink notes that a batch of this many keys took too long.
func (s *sizes) shrink(bucket string, tooMany int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.of[bucket] = max(tooMany/2, minBatch)
}
