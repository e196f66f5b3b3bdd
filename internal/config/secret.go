package config

import (
	"fmt"
	"log/slog"
)

// Secret is a value that must not be printed: every way to print it gives ***, and nothing at all when it is empty.
type Secret string

// Reveal gives the value itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format hides the value from every verb of package fmt, %x and %q too.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, s.String()) }

// MarshalText hides the value from JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the value from the log.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
