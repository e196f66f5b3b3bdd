package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxID is the longest id, owner, kind, name or generation, in bytes.
const maxID = 256

// object reads the members of a JSON object by their exact names, and keeps the first fault. Members that nobody asks for
// are accepted, so that a newer sender can be read.
type object struct {
	members map[string]json.RawMessage
	err     error
}

func newObject(raw []byte, what string) *object {
	o := &object{}
	if len(raw) == 0 {
		o.fail("%s is missing", what)
	} else if err := json.Unmarshal(raw, &o.members); err != nil {
		o.fail("%s must be an object", what)
	} else if o.members == nil {
		o.fail("%s must not be null", what)
	}
	return o
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf(format, args...)
	}
}

// has is false for a member that is absent or null.
func (o *object) has(name string) bool {
	raw, ok := o.members[name]
	return ok && string(raw) != "null"
}

// read puts a member into target; one that is absent or null leaves it. What it must be is for the fault.
func (o *object) read(name, must string, target any) {
	if !o.has(name) {
		return
	}
	if err := json.Unmarshal(o.members[name], target); err != nil {
		o.fail("%s must be %s", name, must)
	}
}

// text is a member that may be absent.
func (o *object) text(name string) (s string) {
	o.read(name, "a string", &s)
	return s
}

// id is a member that must be there: 1 to 256 bytes.
func (o *object) id(name string) string {
	s := o.text(name)
	if err := checkID(s); err != nil {
		o.fail("%s %w", name, err)
	}
	return s
}

// optionalID is a member that may be absent or empty, and has at most 256 bytes.
func (o *object) optionalID(name string) string {
	s := o.text(name)
	if len(s) > maxID {
		o.fail("%s has more than %d bytes", name, maxID)
	}
	return s
}

// count is a whole number that is not negative; absent is 0.
func (o *object) count(name string) (n int64) {
	o.read(name, "a whole number", &n)
	if n < 0 {
		o.fail("%s must not be negative", name)
	}
	return n
}

// instant is a time that may be absent, in UTC.
func (o *object) instant(name string) *time.Time {
	var t *time.Time
	o.read(name, "a time in RFC 3339", &t)
	if t == nil {
		return nil
	}
	utc, err := checkTime(*t)
	if err != nil {
		o.fail("%s %w", name, err)
	}
	return &utc
}

// names is a map of ids that may be absent, and is not empty when it is there.
func (o *object) names(name string) (m map[string]string) {
	o.read(name, "an object of strings", &m)
	if m != nil && len(m) == 0 {
		o.fail("%s must not be empty", name)
	}
	for k, v := range m {
		if err := errors.Join(checkID(k), checkID(v)); err != nil {
			o.fail("%s: a name or value %w", name, err)
		}
	}
	return m
}

// list reads an array of objects that must be there; it may be empty.
func (o *object) list(name string) (objects []*object) {
	var raws []json.RawMessage
	o.read(name, "an array", &raws)
	if raws == nil {
		o.fail("%s is missing", name)
	}
	for _, raw := range raws {
		objects = append(objects, newObject(raw, "each of "+name))
	}
	return objects
}

func checkID(s string) error {
	switch {
	case s == "":
		return errors.New("is missing or empty")
	case len(s) > maxID:
		return fmt.Errorf("has more than %d bytes", maxID)
	}
	return nil
}

// checkTime gives the time in UTC, when it is one that can be written again.
func checkTime(t time.Time) (time.Time, error) {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return t, errors.New("is missing or out of range")
	}
	return t, nil
}
