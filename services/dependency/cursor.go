package dependency

import (
	"encoding/base64"
	"encoding/json"

	"github.com/tombstone-project/tombstone/problem"
)

// A cursor is opaque to callers: the name of its list and the place after which the next page begins, so that the cursor
// of one list is refused by another.
type cursor[T any] struct {
	List  string `json:"l"`
	After T      `json:"a"`
}

func encodeCursor[T any](list string, after T) string {
	b, err := json.Marshal(cursor[T]{list, after})
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor reads a cursor of the list; the empty one gives the fallback, the place before the first item.
func decodeCursor[T any](list, text string, fallback T) (T, error) {
	if text == "" {
		return fallback, nil
	}
	var c cursor[T]
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.List != list {
		return fallback, problem.New(problem.InvalidRequest, "this cursor is not one of this list; begin without one").At("cursor")
	}
	return c.After, nil
}

// Limits of a page.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

func pageLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return defaultLimit, nil
	case limit < 0 || limit > maxLimit:
		return 0, problem.New(problem.InvalidRequest, "limit is %d; write 1 to %d", limit, maxLimit).At("limit")
	}
	return limit, nil
}

// page cuts a list that was asked for with one item more than the page holds.
func page[T any](items []T, limit int, after func(T) string) Page[T] {
	p := Page[T]{Items: items}
	if len(items) > limit {
		p.Items = items[:limit]
		p.NextCursor = after(p.Items[limit-1])
	}
	if p.Items == nil {
		p.Items = []T{}
	}
	return p
}
