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
	entries    map[string][]entry // by key, oldest first
	keys       []string           // sorted; some may have no entries any more
	ghosts     []ghost            // deleted, and still listed
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
		s.buckets[name] = &bucket{entries: map[string][]entry{}}
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
	s.buckets[name].add(e)
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
	entries := s.buckets[name].entries[key]
	for i := range entries {
		if !entries[i].upload && !entries[i].marker {
			how(&entries[i])
		}
	}
}

// Stored tells everything in a bucket, sorted: "KEY CONTENT", "KEY marker" or "KEY upload".
func (s *Server) Stored(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{}
	for _, entries := range s.buckets[name].entries {
		for _, e := range entries {
			out = append(out, e.key+" "+e.what())
		}
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
		b.remove(e.key, null, false)
	}
	b.add(e)
}

func (s *Server) deleteCurrent(name, key string) {
	if b := s.buckets[name]; b.versioning == Off {
		b.remove(key, null, false)
		return
	}
	s.put(name, entry{key: key, marker: true})
}

func (b *bucket) add(e entry) {
	if at, known := slices.BinarySearch(b.keys, e.key); !known {
		b.keys = slices.Insert(b.keys, at, e.key)
	}
	b.entries[e.key] = append(b.entries[e.key], e)
}

// remove takes a version, or an upload, away, and gives it.
func (b *bucket) remove(key, id string, upload bool) (removed []entry) {
	left := slices.DeleteFunc(b.entries[key], func(e entry) bool {
		is := e.id == id && e.upload == upload
		if is {
			removed = append(removed, e)
		}
		return is
	})
	if b.entries[key] = left; len(left) > 0 {
		return removed
	}
	delete(b.entries, key)
	if len(b.keys) > 100 && len(b.entries) < len(b.keys)/2 {
		b.keys = slices.DeleteFunc(b.keys, func(key string) bool { return b.entries[key] == nil })
	}
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

// from gives the entries below a prefix from a key on, in the order of a listing: by key, the newest of a key first; uploads
// the oldest first. It stops when enough are there.
func (b *bucket) from(prefix, key string, uploads bool, enough int) []entry {
	var out []entry
	at, _ := slices.BinarySearch(b.keys, max(prefix, key))
	for _, key := range b.keys[at:] {
		if !strings.HasPrefix(key, prefix) || len(out) > enough {
			break
		}
		first := len(out)
		for _, e := range b.entries[key] {
			if e.upload == uploads {
				out = append(out, e)
			}
		}
		if !uploads {
			slices.Reverse(out[first:])
		}
	}
	return out
}
