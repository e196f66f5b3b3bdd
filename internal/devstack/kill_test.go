package devstack_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/tombstone-project/tombstone/internal/devstack"
)

// childFolder names the data folder to the copy of this test that is killed.
const childFolder = "DEVSTACK_TEST_FOLDER"

func TestAKilledStackIsTakenUpAgainWithItsData(t *testing.T) {
	if dir := os.Getenv(childFolder); dir != "" {
		serveUntilKilled(t, dir)
	}
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childFolder+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var a devstack.Addresses
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		t.Fatalf("addresses of the child: %q, %v", line, err)
	}
	write(t, a)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed

	s := start(t, dir)
	defer stop(t, s)
	read(t, s.Addresses())
}

func serveUntilKilled(t *testing.T, dir string) {
	s := start(t, dir)
	if err := s.CreateBuckets(t.Context(), []string{"assets"}); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(s.Addresses()); err != nil {
		t.Fatal(err)
	}
	select {}
}
