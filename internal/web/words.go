package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/internal/safetext"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// helpers are the functions of the templates.
func helpers() template.FuncMap {
	return template.FuncMap{"show": safetext.Escape, "number": number, "count": count, "moment": moment, "stamp": stamp, "word": word, "look": look, "event": event,
		"statuses": func() []dependency.Status {
			return []dependency.Status{dependency.Live, dependency.Deleting, dependency.Deleted}
		}}
}

// word says how far a deletion is: requested until it is seen to be completed.
func word(s dependency.Status) string {
	switch s {
	case dependency.Scheduled:
		return "requested, scheduled"
	case dependency.Deleting:
		return "requested, in progress"
	case dependency.Deleted:
		return "completed"
	}
	return string(s)
}

// look is the class of a status.
func look(s dependency.Status) string { return "is-" + string(s) }

// event is the type of an audit entry in short: "deletion requested".
func event(kind string) string {
	kind = strings.TrimPrefix(kind, "tombstone.")
	if i := strings.LastIndex(kind, ".v"); i > 0 {
		kind = kind[:i]
	}
	return strings.ReplaceAll(kind, ".", " ")
}

// number writes an int or an int64 with its thousands apart.
func number(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// count is a number with its noun.
func count(n any, noun string) string {
	if digits := number(n); digits != "1" {
		return digits + " " + noun + "s"
	}
	return "1 " + noun
}

// moment writes a time in UTC; stamp is the same for machines. Both take a time or a pointer to one.
func moment(t any) string { return timeOf(t).UTC().Format("2006-01-02 15:04:05 UTC") }

func stamp(t any) string { return timeOf(t).UTC().Format(time.RFC3339) }

func timeOf(t any) time.Time {
	if p, ok := t.(*time.Time); ok {
		return *p
	}
	at, _ := t.(time.Time)
	return at
}

// left says how long it is until a time.
func left(until, now time.Time) string {
	if d := until.Sub(now); d > 0 {
		return "in " + span(d)
	}
	return "now"
}

// span writes a duration with its two largest units.
func span(d time.Duration) string {
	units := []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	d = max(d.Round(time.Second), time.Second)
	var words []string
	for _, u := range units {
		if n := d / u.of; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, u.name))
			d %= u.of
		} else if len(words) > 0 {
			break
		}
		if len(words) == 2 {
			break
		}
	}
	return strings.Join(words, " ")
}
