package main

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/tombstone-project/tombstone/internal/config"
)

// commonFlags are the settings that every command which runs services has, as flags. A flag comes before the environment,
// and that before --config. Passwords and keys have flags for files only: a command line is there for all to read.
type commonFlags struct {
	Config         string `placeholder:"FILE" help:"YAML file with settings by their environment names."`
	Listen         string `placeholder:"HOST:PORT" help:"Where HTTP is served (TOMBSTONE_LISTEN, default 127.0.0.1:8080)."`
	Policy         string `placeholder:"FILE" help:"The policy (TOMBSTONE_POLICY)."`
	Namespace      string `placeholder:"WORD" help:"First word of subjects, streams and collections (TOMBSTONE_NAMESPACE, default tombstone)."`
	Auth           string `placeholder:"HOW" help:"none, tokens:FILE or oidc:ISSUER (TOMBSTONE_AUTH, default none)."`
	ReceiptKeyFile string `placeholder:"FILE" help:"Ed25519 key in PEM that signs receipts (TOMBSTONE_RECEIPT_KEY_FILE)."`
	RequestTimeout string `placeholder:"10s" help:"Longest time for a request (TOMBSTONE_REQUEST_TIMEOUT)."`
	LogLevel       string `placeholder:"LEVEL" help:"debug, info, warn or error (TOMBSTONE_LOG_LEVEL, default info)."`
	StartPaused    bool   `help:"Start with physical deletion paused (TOMBSTONE_START_PAUSED)."`
}

// values are the flags that were given, by the names of their settings.
func (f commonFlags) values() map[string]string {
	v := map[string]string{
		"TOMBSTONE_LISTEN": f.Listen, "TOMBSTONE_POLICY": f.Policy, "TOMBSTONE_NAMESPACE": f.Namespace, "TOMBSTONE_AUTH": f.Auth,
		"TOMBSTONE_RECEIPT_KEY_FILE": f.ReceiptKeyFile, "TOMBSTONE_REQUEST_TIMEOUT": f.RequestTimeout, "TOMBSTONE_LOG_LEVEL": f.LogLevel,
	}
	if f.StartPaused {
		v["TOMBSTONE_START_PAUSED"] = "true"
	}
	return v
}

// load reads all settings; more are further flags by the names of their settings.
func (f commonFlags) load(more map[string]string) (config.Config, error) {
	flags := f.values()
	for name, value := range more {
		flags[name] = value
	}
	return config.Load(config.Sources{Flags: flags, LookupEnv: os.LookupEnv, EnvNames: envNames(), File: f.Config})
}

// envNames are the names of all variables of the environment.
func envNames() []string {
	var names []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	return names
}

// newLogger writes JSON, one line an event.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}
