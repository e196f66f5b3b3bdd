package config

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/auth"
)

func parseListen(v string) (string, error) {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("write HOST:PORT, like 127.0.0.1:8080")
	}
	return v, nil
}

func parseNamespace(v string) (string, error) { return v, events.CheckNamespace(v) }

func secret(v string) (Secret, error) { return Secret(v), nil }

func parseGraphURI(v string) (Secret, error) {
	u, err := url.Parse(v)
	switch {
	case err != nil:
	case u.Scheme == "sqlite" && u.Host == "" && filepath.IsAbs(u.Path):
		return Secret(v), nil
	case slices.Contains([]string{"neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"}, u.Scheme) && u.Host != "":
		return Secret(v), nil
	}
	return "", errors.New("write neo4j://HOST:7687, neo4j+s://HOST, bolt://HOST:7687, or sqlite:// and an absolute path")
}

func parseDocumentsURI(v string) (Secret, error) {
	// Several hosts with ports are legal here and not in a URL, so only scheme and database are looked at.
	scheme, rest, _ := strings.Cut(v, "://")
	_, path, _ := strings.Cut(rest, "/")
	database, _, _ := strings.Cut(path, "?")
	if (scheme != "mongodb" && scheme != "mongodb+srv") || database == "" {
		return "", errors.New("write mongodb://HOST:27017/DATABASE, with the name of the database")
	}
	return Secret(v), nil
}

func parseNATSURL(v string) (Secret, error) {
	for one := range strings.SplitSeq(v, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return "", errors.New("write nats://HOST:4222, several with commas between them")
		}
	}
	return Secret(v), nil
}

func parseEndpoint(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return "", errors.New("write http://HOST:PORT or https://HOST without user and password, or nothing for AWS")
	}
	return v, nil
}

func parseReplicas(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 5 {
		return 0, errors.New("write a number from 1 to 5")
	}
	return n, nil
}

// parseAuth also reads the tokens file, so that a bad one stops the start with the name of this setting.
func parseAuth(v string) (auth.Setting, error) {
	s, err := auth.ParseSetting(v)
	if err == nil && s.Method == auth.MethodTokens {
		_, err = auth.New(s, auth.OIDC{}, slog.New(slog.DiscardHandler))
	}
	return s, err
}

func parseMessageKey(v string) (Secret, error) {
	_, err := events.ParseKeys(v)
	return Secret(v), err
}

func parseReceiptKey(v string) (Secret, error) {
	_, err := parseSigningKey(v)
	return Secret(v), err
}

// parseSigningKey reads an Ed25519 private key in PEM.
func parseSigningKey(v string) (ed25519.PrivateKey, error) {
	const want = "write an Ed25519 private key in PEM, as `openssl genpkey -algorithm ed25519` makes it"
	block, _ := pem.Decode([]byte(v))
	if block == nil {
		return nil, errors.New("this is not PEM: " + want)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("this is not a PKCS #8 private key: " + want)
	}
	signing, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("this is a key of another sort (%T): %s", key, want)
	}
	return signing, nil
}

func setRequestTimeout(c *Config, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return errors.New("write a duration with its unit, more than 0, like 10s")
	}
	c.RequestTimeout = d
	return nil
}

func setLogLevel(c *Config, v string) error {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[v]
	if !ok {
		return errors.New("write debug, info, warn or error")
	}
	c.LogLevel = level
	return nil
}

func setStartPaused(c *Config, v string) error {
	switch v {
	case "true", "false":
		c.StartPaused = v == "true"
		return nil
	}
	return errors.New("write true or false")
}
