package containers

import (
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// S3Addr is where an S3 server is, and who may use it.
type S3Addr struct {
	Endpoint  string
	Region    string
	AccessKey string
	SecretKey string
}

// S3 gives the shared S3 server. It has no buckets; make them with names from Name.
func S3(t testing.TB) S3Addr {
	t.Helper()
	return s3Addr(process.get(t, s3Kind()))
}

// OwnS3 starts an S3 server for this test.
func OwnS3(t testing.TB) (S3Addr, *Server) {
	t.Helper()
	s := own(t, s3Kind())
	return s3Addr(s), s
}

const (
	s3Region    = "us-east-1"
	s3AccessKey = "test"
	s3SecretKey = "for-tests-only"
)

func s3Addr(s *Server) S3Addr {
	return S3Addr{Endpoint: "http://" + s.address, Region: s3Region, AccessKey: s3AccessKey, SecretKey: s3SecretKey}
}

// s3Kind runs versitygw on folders of its own, siblings of which none is a prefix of another's name. The shell makes
// them, whatever the image has; the metadata lies beside the objects, as not every file system has attributes.
func s3Kind() kind {
	const script = `mkdir -p /data/gw /data/versions /data/sidecar && exec /usr/local/bin/versitygw "$@"`
	return kind{
		name: "versitygw", image: "versity/versitygw:v1.8.0", env: "TOMBSTONE_TEST_S3_IMAGE",
		ports: []string{"7070/tcp"},
		options: []testcontainers.ContainerCustomizer{
			testcontainers.WithEntrypoint("/bin/sh", "-c", script, "versitygw"),
			testcontainers.WithCmd(
				"--access", s3AccessKey, "--secret", s3SecretKey, "--region", s3Region,
				"--port", ":7070", "--health", "/health",
				"posix", "--versioning-dir", "/data/versions", "--sidecar", "/data/sidecar", "/data/gw"),
		},
		ready: wait.ForHTTP("/health").WithPort("7070/tcp"),
	}
}
