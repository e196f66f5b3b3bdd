package containers

import (
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// NATS gives the URL of the shared NATS server, with JetStream that has flushed what it acknowledges.
func NATS(t testing.TB) string {
	t.Helper()
	return natsURL(process.get(t, natsKind()))
}

// OwnNATS starts a NATS server for this test.
func OwnNATS(t testing.TB) (string, *Server) {
	t.Helper()
	s := own(t, natsKind())
	return natsURL(s), s
}

func natsURL(s *Server) string { return "nats://" + s.address }

const natsConf = `
port: 4222
http: 8222
jetstream {
  store_dir: "/data"
  sync_interval: always
}
`

func natsKind() kind {
	const path = "/etc/nats-test.conf"
	return kind{
		name: "NATS", image: "nats:2.15-alpine", env: "TOMBSTONE_TEST_NATS_IMAGE",
		ports: []string{"4222/tcp", "8222/tcp"},
		options: []testcontainers.ContainerCustomizer{
			natsFile(path, natsConf), testcontainers.WithCmd("-c", path),
		},
		ready: wait.ForHTTP("/healthz").WithPort("8222/tcp"),
	}
}

// natsFile puts a configuration into the container. A reader can be read once, and a server may be started again.
func natsFile(path, conf string) testcontainers.ContainerCustomizer {
	return testcontainers.CustomizeRequestOption(func(r *testcontainers.GenericContainerRequest) error {
		r.Files = append(r.Files, testcontainers.ContainerFile{Reader: strings.NewReader(conf), ContainerFilePath: path, FileMode: 0o644})
		return nil
	})
}
