package s3test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The ways in which a bucket keeps versions.
const (
	Enabled   = "enabled"
	Suspended = "suspended"
	Off       = "off"
)

// null is the version id of what is written while no versions are kept.
const null = "null"

type bucket struct {
	versioning string
	lock       bool
	replicated bool
	entries    []entry // oldest first
	ghosts     []ghost // deleted, and still listed
}

// entry is an object version, a delete marker or an unfinished upload.
type entry struct {
	key, id string
	content string
	marker  bool
	upload  bool
	at      time.Time
	mode    string // of its retention: "GOVERNANCE", "COMPLIANCE" or none
	until   time.Time
	held    bool
}

type ghost struct {
	entry
	listings int // for how many more
}

// The calls below are what other users and administrators of the store do. They answer at once, whatever the store was told.

// CreateBucket makes an empty bucket, or changes how one keeps versions.
func (s *Server) CreateBucket(name, versioning string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets[name] == nil {
		s.buckets[name] = &bucket{}
	}
	s.buckets[name].versioning = versioning
}

// EnableLock lets a bucket have object locks.
func (s *Server) EnableLock(name string) { s.change(name, func(b *bucket) { b.lock = true }) }

// Replicate lets a bucket be replicated elsewhere.
func (s *Server) Replicate(name string) { s.change(name, func(b *bucket) { b.replicated = true }) }

func (s *Server) change(name string, how func(*bucket)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(s.buckets[name])
}

// Put writes one object.
func (s *Server) Put(name, key, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(name, entry{key: key, content: content})
}

// BeginUpload leaves an unfinished upload and gives its id.
func (s *Server) BeginUpload(name, key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := entry{key: key, id: s.id(), upload: true, at: s.tick()}
	s.buckets[name].entries = append(s.buckets[name].entries, e)
	return e.id
}

// DeleteCurrent deletes by key alone: where versions are kept it leaves a marker.
func (s *Server) DeleteCurrent(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteCurrent(name, key)
}

// Retain puts every version of a key under retention; mode is "GOVERNANCE" or "COMPLIANCE".
func (s *Server) Retain(name, key, mode string, until time.Time) {
	s.each(name, key, func(e *entry) { e.mode, e.until = mode, until })
}

// Hold sets or lifts the legal hold of every version of a key.
func (s *Server) Hold(name, key string, held bool) {
	s.each(name, key, func(e *entry) { e.held = held })
}

func (s *Server) each(name, key string, how func(*entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.buckets[name].entries
	for i := range entries {
		if entries[i].key == key && !entries[i].upload && !entries[i].marker {
			how(&entries[i])
		}
	}
}

// Stored tells everything in a bucket, sorted: "KEY CONTENT", "KEY marker" or "KEY upload".
func (s *Server) Stored(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{}
	for _, e := range s.buckets[name].entries {
		out = append(out, e.key+" "+e.what())
	}
	slices.Sort(out)
	return out
}

func (e entry) what() string {
	switch {
	case e.upload:
		return "upload"
	case e.marker:
		return "marker"
	}
	return e.content
}

// put adds a current version; where versions are not kept it replaces the null version. s.mu is held.
func (s *Server) put(name string, e entry) {
	b := s.buckets[name]
	e.at, e.id = s.tick(), s.id()
	if b.versioning != Enabled {
		e.id = null
		b.remove(e.key, null)
	}
	b.entries = append(b.entries, e)
}

func (s *Server) deleteCurrent(name, key string) {
	if b := s.buckets[name]; b.versioning == Off {
		b.remove(key, null)
		return
	}
	s.put(name, entry{key: key, marker: true})
}

// remove takes a version away, and gives it.
func (b *bucket) remove(key, id string) (removed []entry) {
	b.entries = slices.DeleteFunc(b.entries, func(e entry) bool {
		is := e.key == key && e.id == id && !e.upload
		if is {
			removed = append(removed, e)
		}
		return is
	})
	return removed
}

// tick tells the time to the millisecond, as listings do, and never the same twice.
func (s *Server) tick() time.Time {
	s.last = s.last.Add(time.Millisecond)
	if now := s.Now().Truncate(time.Millisecond); now.After(s.last) {
		s.last = now
	}
	return s.last
}

// id makes a version or upload id: a later one is greater.
func (s *Server) id() string {
	s.ids++
	return fmt.Sprintf("id%08d", s.ids)
}

// inOrder are the entries that are wanted, in the order of a listing: by key, the newest of a key first; uploads the oldest
// first.
func (b *bucket) inOrder(wanted func(entry) bool) []entry {
	var out []entry
	for _, e := range b.entries {
		if wanted(e) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(x, y entry) int { return strings.Compare(x.key, y.key) })
	for i := 0; i < len(out); {
		n := i + 1
		for n < len(out) && out[n].key == out[i].key {
			n++
		}
		if !out[i].upload {
			slices.Reverse(out[i:n])
		}
		i = n
	}
	return out
}
