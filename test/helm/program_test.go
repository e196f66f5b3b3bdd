package helm

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// patience is how long the program may take to answer. It is no limit on speed.
const patience = 2 * time.Minute

// TestTheProgramRunsAsInItsPod builds the program and gives it what a pod has: the settings, of which it refuses unknown
// ones, and the files that are mounted. No store is there; it must answer the probes all the same, and stay.
func TestTheProgramRunsAsInItsPod(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "tombstone")
	if out, err := exec.Command("go", "-C", "../..", "build", "-tags", "nodev", "-o", binary, "./cmd/tombstone").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, name := range samples {
		objects := rendered(t, name)
		for service, p := range pods(t, objects) {
			t.Run(name+", "+service, func(t *testing.T) { runAsPod(t, binary, service, objects, p) })
		}
	}
}

func runAsPod(t *testing.T, binary, service string, objects []object, p pod) {
	c := p.Spec.Containers[0]
	listen := freePort(t)
	root := mounted(t, objects, p)
	settings, env := map[string]string{}, []string{"HOME=" + t.TempDir()}
	for _, e := range c.Env {
		value := strings.ReplaceAll(e.Value, "/etc/tombstone/", root+"/")
		switch {
		case e.Name == "TOMBSTONE_LISTEN":
			settings[e.Name] = listen
		case strings.HasPrefix(e.Name, "TOMBSTONE_"):
			settings[e.Name] = value
		case strings.HasPrefix(e.Name, "AWS_ACCESS_KEY_ID") && service == "dependency":
			t.Error("the dependency service has the keys of the object store")
		case !strings.HasPrefix(e.Name, "OTEL_"): // no collector is there
			env = append(env, e.Name+"="+value)
		}
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(binary, append(c.Args, "--config", file)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	alive := c.LivenessProbe.HTTPGet
	url := strings.ToLower(alive.Scheme) + "://" + listen
	if !answers(url+alive.Path, ended) {
		_ = cmd.Process.Kill()
		t.Fatalf("it does not answer %s:\n%s", alive.Path, log.String())
	}
	for path, want := range map[string]int{c.ReadinessProbe.HTTPGet.Path: http.StatusServiceUnavailable, "/metrics": http.StatusOK} {
		if got := status(url + path); got != want {
			t.Errorf("%s answers %d, want %d", path, got, want)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v:\n%s", err, log.String())
	}
}

// answers waits until a probe succeeds; false when the program has ended, or in vain.
func answers(url string, ended chan error) bool {
	over := time.After(patience)
	for status(url) != http.StatusOK {
		select {
		case err := <-ended:
			ended <- err
			return false
		case <-over:
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}

// status is that of a request as the kubelet sends it: whose certificate it is does not matter. 0: no answer.
func status(url string) int {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, Timeout: 10 * time.Second} //nolint:gosec // as the kubelet
	answer, err := client.Get(url)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// configMap is the content of one.
func configMap(t *testing.T, objects []object, name string) map[string]string {
	t.Helper()
	for _, o := range objects {
		if o.kindName() == "ConfigMap/"+name {
			return into[struct{ Data map[string]string }](t, o).Data
		}
	}
	t.Fatalf("there is no config map %s", name)
	return nil
}

// pair is a certificate with its key in PEM, of no use anywhere.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"tombstone"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs}))
}

// contents are what secrets and config maps hold here, by the file that they become.
var contents = map[string]string{
	"tokens.yaml":                   "- {sha256: 4fcbc14a166f9ca6a3654526f12ee1210260e10af7b1eab9b63236fa06adf307, subject: a, owner: default}\n",
	"TOMBSTONE_GRAPH_PASSWORD_FILE": "secret",
	"TOMBSTONE_NATS_URL_FILE":       "nats://user:secret@broker:4222",
	"TOMBSTONE_DOCUMENTS_URI_FILE":  "mongodb://user:secret@documents/tombstone",
	"TOMBSTONE_RECEIPT_KEY_FILE":    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n",
	"TOMBSTONE_NATS_CREDS":          "credentials",
	"TOMBSTONE_MESSAGE_KEY_FILE":    "0123456789012345678901234567890123456789",
}

// mounted writes the volumes of a pod below a folder, which stands for /etc/tombstone.
func mounted(t *testing.T, objects []object, p pod) (root string) {
	t.Helper()
	root = t.TempDir()
	cert, key := pair(t)
	contents := maps.Clone(contents)
	contents["TOMBSTONE_TLS_CERT"], contents["TOMBSTONE_TLS_KEY"], contents["TOMBSTONE_CA"] = cert, key, cert
	contents["AWS_CA_BUNDLE"] = cert
	at := map[string]string{}
	for _, m := range p.Spec.Containers[0].VolumeMounts {
		at[m.Name] = filepath.Join(root, strings.TrimPrefix(m.MountPath, "/etc/tombstone"))
	}
	write := func(volume, name, text string) {
		if err := os.MkdirAll(at[volume], 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at[volume], name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range p.Spec.Volumes {
		if v.ConfigMap.Name == "our-policy" {
			write(v.Name, "meshes.yaml", "kinds: {bare: {}}\n")
		} else if v.ConfigMap.Name != "" {
			write(v.Name, "policy.yaml", configMap(t, objects, v.ConfigMap.Name)["policy.yaml"])
		}
		secrets := []secretVolume{v.Secret}
		for _, s := range v.Projected.Sources {
			secrets = append(secrets, s.Secret)
		}
		for _, s := range secrets {
			for _, item := range s.Items {
				text, known := contents[item.Path]
				if !known {
					t.Errorf("the test does not know what is in %s", item.Path)
				}
				write(v.Name, item.Path, text)
			}
		}
	}
	return root
}
