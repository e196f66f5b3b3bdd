package containers

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Mongo gives the URI of a database of this test's own on the shared MongoDB server, or on FerretDB where
// TOMBSTONE_TEST_MONGO_IMAGE names one of its images.
func Mongo(t testing.TB) string {
	t.Helper()
	return mongoURI(t, process.get(t, mongoKind()))
}

// OwnMongo starts a MongoDB server (or FerretDB) for this test, and gives the URI of a database on it.
func OwnMongo(t testing.TB) (string, *Server) {
	t.Helper()
	s := own(t, mongoKind())
	return mongoURI(t, s), s
}

func mongoURI(t testing.TB, s *Server) string {
	t.Helper()
	return "mongodb://" + s.address + "/" + Name(t)
}

func mongoKind() kind {
	k := kind{
		name: "MongoDB", image: "mongo:8", env: "TOMBSTONE_TEST_MONGO_IMAGE",
		ports: []string{"27017/tcp"},
		ready: wait.ForNop(mongoPing).WithStartupTimeout(startTimeout),
	}
	if isFerret(k) {
		return ferretKind(k)
	}
	return k
}

func isFerret(k kind) bool { return strings.Contains(k.imageName(), "ferretdb") }

// ferretKind runs FerretDB 1 on SQLite. Its answer to a ping tells nothing, so its own page is asked.
func ferretKind(k kind) kind {
	k.name, k.ports = "FerretDB", append(k.ports, "8088/tcp")
	k.options = append(k.options, testcontainers.WithEnv(map[string]string{
		"FERRETDB_HANDLER":     "sqlite",
		"FERRETDB_SQLITE_URL":  "file:/state/",
		"FERRETDB_STATE_DIR":   "/state",
		"FERRETDB_LISTEN_ADDR": ":27017",
		"FERRETDB_DEBUG_ADDR":  ":8088",
		"FERRETDB_TELEMETRY":   "disable",
	}))
	k.ready = wait.ForHTTP("/debug/readyz").WithPort("8088/tcp")
	return k
}

// mongoPing waits until the server answers a ping: the driver itself looks for it until ctx ends.
func mongoPing(ctx context.Context, target wait.StrategyTarget) error {
	port, err := target.MappedPort(ctx, "27017/tcp")
	if err != nil {
		return err
	}
	c, err := mongo.Connect(options.Client().
		ApplyURI("mongodb://127.0.0.1:" + port.Port()).
		SetServerSelectionTimeout(startTimeout).SetConnectTimeout(5 * time.Second))
	if err != nil {
		return err
	}
	defer func() { _ = c.Disconnect(context.WithoutCancel(ctx)) }()
	return c.Ping(ctx, nil)
}
