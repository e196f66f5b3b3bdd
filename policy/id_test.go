package policy

import (
	"errors"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
)

func TestValidateID(t *testing.T) {
	for _, id := range []string{
		"1", "a/../b", ".", "..", " lead", "50%", "{id}", "🦕 mesh", "q\u0303 combining", "日本語", "é", "\u00a0", "\u200d",
		strings.Repeat("x", 256), strings.Repeat("ü", 128), "\uFFFD",
	} {
		if err := ValidateID(id); err != nil {
			t.Errorf("%q is legal, got %v", id, err)
		}
	}
	for id, hint := range map[string]string{
		"":                       "it is empty; send 1 to 256 bytes",
		strings.Repeat("x", 257): "it has 257 bytes; send at most 256",
		strings.Repeat("ü", 129): "it has 258 bytes; send at most 256",
		"bad\xff":                "it is not valid UTF-8; send UTF-8",
		"tab\tbed":               "it holds the control character U+0009; send it without",
		"nul\x00":                "it holds the control character U+0000; send it without",
		"del\x7f":                "it holds the control character U+007F; send it without",
		"\u0085next":             "it holds the control character U+0085; send it without",
		"cafe\u0301":             `it is not in Unicode normal form C; send "café"`,
	} {
		err := ValidateID(id)
		if p := problem.As(err); !errors.Is(err, problem.InvalidID) || p.Detail != hint {
			t.Errorf("%q: want invalid-id, %q, got %v", id, hint, err)
		}
	}
}
