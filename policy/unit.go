package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// parseDuration reads Go's durations, and `d` for 24 hours: "90s", "1h30m", "30d", "1d12h", "-1h". 0 needs no unit; no
// other number does without.
func parseDuration(text string) (time.Duration, error) {
	rest, negative := strings.CutPrefix(text, "-")
	if rest == "0" {
		return 0, nil
	}
	if rest != "" && strings.Trim(rest, "0123456789.") == "" {
		return 0, fmt.Errorf("%s has no unit; write %ss, %sm, %sh or %sd", text, text, text, text, text)
	}
	var total time.Duration
	for first := true; rest != "" || first; first = false {
		piece, tail, err := cutDuration(rest)
		if err != nil || piece > math.MaxInt64-total {
			return 0, fmt.Errorf("%q is not a duration, or too long a one; write one like 90s, 15m, 24h or 30d", text)
		}
		total, rest = total+piece, tail
	}
	if negative {
		total = -total
	}
	return total, nil
}

// cutDuration reads the first number and its unit; it is never negative.
func cutDuration(text string) (d time.Duration, rest string, err error) {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' || r == '.' }
	unit := strings.IndexFunc(text, func(r rune) bool { return !isDigit(r) })
	if unit <= 0 {
		return 0, "", strconv.ErrSyntax
	}
	end := len(text)
	if next := strings.IndexFunc(text[unit:], isDigit); next >= 0 {
		end = unit + next
	}
	if text[unit:end] != "d" {
		d, err = time.ParseDuration(text[:end])
		return d, text[end:], err
	}
	d, err = time.ParseDuration(text[:unit] + "h")
	if err == nil && d > math.MaxInt64/24 {
		err = strconv.ErrRange
	}
	return 24 * d, text[end:], err
}

// durationText writes a duration as a policy would, without zero units.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sizeUnits are the units of sizes: powers of ten, and powers of two with an i.
var sizeUnits = map[string]int64{
	"": 1, "B": 1,
	"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50,
}

// parseSize reads a number of bytes: "1000", "500MB", "10GiB".
func parseSize(text string) (int64, error) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	unit, known := sizeUnits[strings.TrimSpace(text[digits:])]
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil || !known || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size, or too great a one; write a whole number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB", text)
	}
	return n * unit, nil
}
