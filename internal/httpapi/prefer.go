package httpapi

import (
	"strconv"
	"strings"
	"time"
)

// maxWait is the longest time that a caller may ask to wait for.
const maxWait = 10 * time.Minute

// preferredWait is the `wait` preference of RFC 7240, in seconds: 0 when there is none, and at most maxWait. As that RFC
// asks, what cannot be read is ignored.
func preferredWait(headers []string) time.Duration {
	for _, header := range headers {
		for preference := range strings.FieldsFuncSeq(header, func(r rune) bool { return r == ',' || r == ';' }) {
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err != nil {
				return 0
			}
			return min(time.Duration(seconds)*time.Second, maxWait)
		}
	}
	return 0
}
