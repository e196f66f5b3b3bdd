package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/services/dependency"
	"github.com/tombstone-project/tombstone/services/dependency/neo4j"
	"github.com/tombstone-project/tombstone/services/dependency/sqlite"
)

const sqliteScheme = "sqlite://"

// openGraph opens the graph of TOMBSTONE_GRAPH_URI. A Neo4j that is away is no error here.
func openGraph(ctx context.Context, cfg config.Config, p *policy.Policy, roots *x509.CertPool) (dependency.Graph, error) {
	uri := cfg.GraphURI.Reveal()
	if path, ok := strings.CutPrefix(uri, sqliteScheme); ok {
		g, err := sqlite.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.GraphURI, err)
		}
		return g, nil
	}
	g, err := neo4j.Open(ctx, onNeo4j(cfg, p, roots))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.GraphURI, err)
	}
	return g, nil
}

// onNeo4j is the configuration of a graph there. A request may use all of its time in one transaction.
func onNeo4j(cfg config.Config, p *policy.Policy, roots *x509.CertPool) neo4j.Config {
	return neo4j.Config{URI: cfg.GraphURI.Reveal(), User: cfg.GraphUser, Password: cfg.GraphPassword.Reveal(), Database: cfg.GraphDatabase,
		Names: p.Graph, Links: p.Links, Roots: roots, Timeout: cfg.RequestTimeout}
}
