package containers

import (
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Neo4jAddr is where a Neo4j server is, and who may use it.
type Neo4jAddr struct {
	URI      string
	User     string
	Password string
}

// Neo4j gives the shared Neo4j server. It has one database: a test that needs it empty empties it, and tests that do so
// must not run at the same time.
func Neo4j(t testing.TB) Neo4jAddr {
	t.Helper()
	return neo4jAddr(process.get(t, neo4jKind()))
}

// OwnNeo4j starts a Neo4j server for this test.
func OwnNeo4j(t testing.TB) (Neo4jAddr, *Server) {
	t.Helper()
	s := own(t, neo4jKind())
	return neo4jAddr(s), s
}

const neo4jPassword = "for-tests-only"

func neo4jAddr(s *Server) Neo4jAddr {
	return Neo4jAddr{URI: "bolt://" + s.address, User: "neo4j", Password: neo4jPassword}
}

// neo4jKind keeps the server small: without the second setting each container takes 500 MB of disk, and without the
// third a graceful stop takes 10 s.
func neo4jKind() kind {
	return kind{
		name: "Neo4j", image: "neo4j:5.26-community", env: "TOMBSTONE_TEST_NEO4J_IMAGE",
		ports: []string{"7687/tcp", "7474/tcp"},
		options: []testcontainers.ContainerCustomizer{testcontainers.WithEnv(map[string]string{
			"NEO4J_AUTH":                   "neo4j/" + neo4jPassword,
			"NEO4J_db_tx__log_preallocate": "false",
			"NEO4J_internal_server_bolt_thread__pool__shutdown__wait__time": "100ms",
			"NEO4J_server_memory_heap_max__size":                            "512m",
			"NEO4J_server_memory_pagecache_size":                            "128m",
		})},
		ready: wait.ForHTTP("/").WithPort("7474/tcp"),
	}
}
