package containers

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// NATS gives the URL of the shared NATS server, with JetStream that has flushed what it acknowledges. A client that names
// no user may do everything; the users of deploy/nats.conf (see BrokerUser) may do what stands there, in any namespace.
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

// BrokerUser names a user of deploy/nats.conf in the URL of a server, or of several with commas between them.
func BrokerUser(t testing.TB, server, user string) string {
	t.Helper()
	var all []string
	for one := range strings.SplitSeq(server, ",") {
		u, err := url.Parse(one)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(user, brokerPassword)
		all = append(all, u.String())
	}
	return strings.Join(all, ",")
}

// brokerPassword is that of every user.
const brokerPassword = "for-tests-only"

const natsConfPath = "/etc/nats-test.conf"

func natsKind() kind {
	k := kind{
		name: "NATS", image: "nats:2.15-alpine", env: "TOMBSTONE_TEST_NATS_IMAGE",
		ports: []string{"4222/tcp", "8222/tcp"},
		ready: wait.ForHTTP("/healthz").WithPort("8222/tcp"),
	}
	conf, err := sharedConf()
	if err != nil { // the server says so when it does not start
		conf = err.Error()
	}
	k.options = natsOptions(conf)
	return k
}

// natsOptions start a server with a configuration.
func natsOptions(conf string) []testcontainers.ContainerCustomizer {
	return []testcontainers.ContainerCustomizer{testcontainers.WithEnv(BrokerEnvironment()), withText(natsConfPath, conf), testcontainers.WithCmd("-c", natsConfPath)}
}

// ours are the words of subjects that depend on the namespace.
var ours = regexp.MustCompile(`(tombstone|TOMBSTONE)[A-Z_a-z-]*([.">])`)

// sharedConf is deploy/nats.conf for every namespace at once, which each test has its own of, with a user for the tests
// themselves. It cannot tell streams apart; a test in test/system takes the file as it is.
func sharedConf() (string, error) {
	text, err := os.ReadFile(DeployedNATS())
	if err != nil {
		return "", err
	}
	head, users, found := strings.Cut(string(text), "  users = [")
	if !found {
		return "", fmt.Errorf("deploy/nats.conf has no users")
	}
	return head + "  users = [\n    {user: tests, password: " + brokerPassword + "}" + ours.ReplaceAllString(users, "*$2") + "\nno_auth_user: tests\n", nil
}

// DeployedNATS is the path of deploy/nats.conf.
func DeployedNATS() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "../../deploy/nats.conf")
}

// BrokerEnvironment is what the configuration takes from the environment.
func BrokerEnvironment() map[string]string {
	env := map[string]string{}
	for _, user := range []string{"DEPENDENCY", "ASSET", "READER", "OPERATOR"} {
		env["TOMBSTONE_BROKER_"+user] = brokerPassword
	}
	return env
}

// withText puts a file with a text into the container. A reader can be read once, and a server may be started again.
func withText(path, text string) testcontainers.ContainerCustomizer {
	return testcontainers.CustomizeRequestOption(func(r *testcontainers.GenericContainerRequest) error {
		r.Files = append(r.Files, testcontainers.ContainerFile{Reader: strings.NewReader(text), ContainerFilePath: path, FileMode: 0o644})
		return nil
	})
}
