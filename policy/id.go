package policy

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/tombstone-project/tombstone/problem"
)

// maxID is the longest id or owner, in bytes (CONTRACT section 1).
const maxID = 256

// ValidateID checks an id or an owner: 1 to 256 bytes of UTF-8 in NFC without control characters (category Cc). Anything
// else is the refusal invalid-id, with what to send instead.
func ValidateID(id string) error {
	switch {
	case id == "":
		return problem.New(problem.InvalidID, "it is empty; send 1 to %d bytes", maxID)
	case len(id) > maxID:
		return problem.New(problem.InvalidID, "it has %d bytes; send at most %d", len(id), maxID)
	case !utf8.ValidString(id):
		return problem.New(problem.InvalidID, "it is not valid UTF-8; send UTF-8")
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return problem.New(problem.InvalidID, "it holds the control character U+%04X; send it without", r)
		}
	}
	if !norm.NFC.IsNormalString(id) {
		return problem.New(problem.InvalidID, "it is not in Unicode normal form C; send %q", norm.NFC.String(id))
	}
	return nil
}
