package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays of a message may be nested; ours need three levels.
const maxDepth = 32

// CheckJSON refuses what JSON parsers read in different ways: bytes that are not UTF-8, escapes of half a character (both
// would be replaced silently, and an id would become another id), and members given twice; and what is nested deeper than
// depth.
func CheckJSON(b []byte, depth int) error {
	if !utf8.Valid(b) {
		return errors.New("not valid UTF-8")
	}
	if !json.Valid(b) {
		return errors.New("not valid JSON")
	}
	if err := checkEscapes(b); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return checkValue(d, depth)
}

// checkValue reads one value and looks for members given twice, at every level down to depth.
func checkValue(d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth == 0 {
		return errors.New("nested too deep")
	}
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if seen[name.(string)] {
				return fmt.Errorf("member %q is given twice", name)
			}
			seen[name.(string)] = true
		}
		if err := checkValue(d, depth-1); err != nil {
			return err
		}
	}
	_, err = d.Token() // the closing one
	return err
}

// checkEscapes finds \u escapes of a surrogate without its other half, in valid JSON.
func checkEscapes(b []byte) error {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++ // the escaped character
		first := escapedUnit(b[i-1:])
		if first < 0xD800 || first > 0xDFFF {
			continue
		}
		second := escapedUnit(b[i+5:])
		if first > 0xDBFF || second < 0xDC00 || second > 0xDFFF {
			return fmt.Errorf("half of a character is escaped at byte %d", i)
		}
		i += 10 // to the last digit of the second
	}
	return nil
}

// escapedUnit is the UTF-16 unit that b begins with as a \u escape; -1 when it begins otherwise.
func escapedUnit(b []byte) int64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseInt(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return unit
}
