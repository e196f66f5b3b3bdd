package s3

import "sync"

const (
	// maxPause is how many times in a row a try is left out, after many that did not pay.
	maxPause = 64
	// maxSegments bounds what is remembered; then it begins anew.
	maxSegments = 1000
)

// sharing remembers where common listings paid, by bucket and first segment: places that are deleted together are
// neighbours in one store and far apart in another. After each try that did not pay, twice as many are left out.
type sharing struct {
	mu sync.Mutex
	of map[[2]string]trial
}

type trial struct {
	pause int // tries to leave out after the next that does not pay
	left  int // of the present pause
}

func (s *sharing) worthATry(bucket, segment string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.of[[2]string{bucket, segment}]
	if t.left == 0 {
		return true
	}
	t.left--
	s.of[[2]string{bucket, segment}] = t
	return false
}

func (s *sharing) learn(bucket, segment string, paid bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil || len(s.of) >= maxSegments {
		s.of = map[[2]string]trial{}
	}
	place := [2]string{bucket, segment}
	if paid {
		delete(s.of, place)
		return
	}
	pause := min(max(1, 2*s.of[place].pause), maxPause)
	s.of[place] = trial{pause, pause}
}
