package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// The column types below are both arguments of statements and targets of scans, so that each record lists its columns
// once.

// micros is a time in a column: UTC microseconds since 1970.
type micros struct{ at *time.Time }

// Value gives the column of the time.
func (m micros) Value() (driver.Value, error) { return m.at.UnixMicro(), nil }

// Scan takes the column into the time.
func (m micros) Scan(column any) error {
	n, ok := column.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", column)
	}
	*m.at = time.UnixMicro(n).UTC()
	return nil
}

// document is a value kept as JSON, NULL when it is empty.
type document struct{ value any }

// Value gives the column of the value, which may be a pointer.
func (d document) Value() (driver.Value, error) {
	text, err := json.Marshal(d.value)
	if err != nil {
		return nil, err
	}
	switch s := string(text); s {
	case "null", "{}", "[]":
		return nil, nil
	default:
		return s, nil
	}
}

// Scan takes the column into what the value points to.
func (d document) Scan(column any) error {
	switch text := column.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(text), d.value)
	default:
		return fmt.Errorf("JSON is stored as %T", column)
	}
}

// list is a JSON array for json_each.
func list[T any](items []T) driver.Valuer { return array[T](items) }

type array[T any] []T

// Value gives the array, "[]" when it is empty.
func (a array[T]) Value() (driver.Value, error) {
	if len(a) == 0 {
		return "[]", nil
	}
	text, err := json.Marshal([]T(a))
	return string(text), err
}
