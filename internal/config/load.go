package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/tombstone-project/tombstone/internal/auth"
)

// fileSuffix after the name of a secret setting names a file that holds its value.
const fileSuffix = "_FILE"

// Sources are where settings come from. All but LookupEnv may be empty.
type Sources struct {
	// Flags are values by the name of the setting; empty ones count as not given.
	Flags map[string]string
	// LookupEnv is os.LookupEnv; empty values count as not given.
	LookupEnv func(string) (string, bool)
	// EnvNames are the names of all variables of the environment.
	EnvNames []string
	// File is the YAML file of --config.
	File string
}

// layer looks up one source; where tells where a value stands ("in the environment").
type layer struct {
	where  string
	lookup func(name string) string
}

// Load reads all settings. The error joins every fault, one line each.
func Load(s Sources) (Config, error) {
	var c Config
	file, err := readFile(s.File)
	if err != nil {
		return c, err
	}
	layers := []layer{
		{"on the command line", func(name string) string { return s.Flags[name] }},
		{"in the environment", func(name string) string { v, _ := s.LookupEnv(name); return v }},
		{"in " + s.File, func(name string) string { return file[name] }},
	}
	faults := misspelt(s.EnvNames)
	for _, row := range settings() {
		value, err := find(row, layers)
		if err == nil && value != "" {
			err = row.assign(&c, value)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) == 0 {
		faults = append(faults, crossCheck(c))
	}
	return c, errors.Join(faults...)
}

// crossCheck looks at settings that must go together.
func crossCheck(c Config) error {
	if err := c.Auth.CheckListener(c.Listen); err != nil {
		return fmt.Errorf("%sAUTH: %w", prefix, err)
	}
	if c.Auth.Method == auth.MethodOIDC && c.AuthAudience == "" {
		return fmt.Errorf("%sAUTH_AUDIENCE is not set: write for whom the issuer's tokens are", prefix)
	}
	return checkCertificate(c)
}

// assign sets the value; an error names the setting, and the value too unless it is secret.
func (s setting) assign(c *Config, value string) error {
	err := s.set(c, value)
	if err == nil {
		return nil
	}
	if s.secret {
		return fmt.Errorf("%s: %s", s.name, oneLine(err.Error()))
	}
	return fmt.Errorf("%s=%s: %s", s.name, oneLine(credentials.ReplaceAllString(value, "//***@")), oneLine(err.Error()))
}

// find gives the value of the first source that has one, or the default.
func find(s setting, layers []layer) (string, error) {
	for _, l := range layers {
		value := l.lookup(s.name)
		if !s.secret {
			if value != "" {
				return value, nil
			}
			continue
		}
		file := l.lookup(s.name + fileSuffix)
		switch {
		case value != "" && file != "":
			return "", fmt.Errorf("%s and %s%s are both given %s: write one of them", s.name, s.name, fileSuffix, l.where)
		case value != "":
			return value, nil
		case file != "":
			return readSecret(s.name, file)
		}
	}
	return s.fallback, nil
}

// readSecret reads the value of a setting from a file, without the end of its last line.
func readSecret(name, file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s%s: %w", name, fileSuffix, err)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" {
		return "", fmt.Errorf("%s%s: %s is empty", name, fileSuffix, file)
	}
	return value, nil
}

// credentials are a user and a password in an address.
var credentials = regexp.MustCompile(`//[^/]*@`)

// oneLine keeps an error on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
