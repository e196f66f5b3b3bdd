package system

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// H-16.
func TestDev(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tombstone")
	out, err := exec.Command("go", "build", "-o", path, "github.com/tombstone-project/tombstone/cmd/tombstone").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Run("goes on where it was after SIGKILL", func(t *testing.T) { devGoesOn(t, path) })
	t.Run("refuses a second process on its folder, naming the first", func(t *testing.T) { secondDev(t, path) })
	t.Run("shows a refusal and deletions in the demo, and serves", func(t *testing.T) { devDemo(t, path) })
}

// dev is a running `tombstone dev`.
type dev struct {
	*client.Client
	t      *testing.T
	cmd    *exec.Cmd
	log    *Log
	listen string
}

func startDev(t *testing.T, path, data string, args ...string) *dev {
	t.Helper()
	d := &dev{t: t, log: &Log{}, listen: freePort(t)}
	addresses := filepath.Join(data, "addresses.json")
	if err := os.Remove(addresses); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	d.cmd = exec.Command(path, append([]string{"dev", "--data", data, "--listen", d.listen}, args...)...)
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.end(syscall.SIGTERM) })
	var a struct{ HTTP string }
	Eventually(t, "addresses.json", func() error {
		text, err := os.ReadFile(addresses)
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		return err
	})
	api, err := client.New(a.HTTP, "")
	if err != nil {
		t.Fatal(err)
	}
	d.Client = api
	return d
}

// end signals the process and waits for it; again it does nothing.
func (d *dev) end(sig syscall.Signal) {
	if d.cmd == nil {
		return
	}
	if err := d.cmd.Process.Signal(sig); err != nil {
		d.t.Errorf("signal dev: %v", err)
	}
	err := d.cmd.Wait()
	d.cmd = nil
	if sig == syscall.SIGTERM && err != nil {
		d.t.Errorf("dev ended with %v:\n%s", err, d.log)
	}
}

func devGoesOn(t *testing.T, path string) {
	data := t.TempDir()
	d := startDev(t, path, data)
	const n = 40
	for i := range n {
		id := fmt.Sprintf("tree-%d", i)
		if _, _, err := d.PutAsset(t.Context(), id, dependency.Put{Kind: "texture"}); err != nil {
			t.Fatal(err)
		}
		if err := d.PutDocument(t.Context(), id, "description", map[string]any{"i": float64(i)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	var accepted []string
	for i := range n - 1 {
		del, err := d.Delete(t.Context(), fmt.Sprintf("tree-%d", i), dependency.DeleteRequest{})
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, del.ID)
	}
	d.end(syscall.SIGKILL) // most of them are under way
	d = startDev(t, path, data)
	for _, id := range accepted {
		Eventually(t, "deletion "+id, func() error {
			del, err := d.Deletion(t.Context(), id, "")
			if err == nil && del.Status != dependency.Deleted {
				err = fmt.Errorf("is %s", del.Status)
			}
			return err
		})
	}
	last := fmt.Sprintf("tree-%d", n-1)
	if body, err := d.GetDocument(t.Context(), last, "description"); err != nil || body["i"] != float64(n-1) {
		t.Errorf("the document of the asset that stays: %v, %v", body, err)
	}
}

func secondDev(t *testing.T, path string) {
	data := t.TempDir()
	d := startDev(t, path, data)
	for name, listen := range map[string]string{"another address": freePort(t), "the same address": d.listen} {
		out, err := exec.Command(path, "dev", "--data", data, "--listen", listen).CombinedOutput()
		if err == nil || !strings.Contains(string(out), fmt.Sprintf("in use by process %d", d.cmd.Process.Pid)) {
			t.Errorf("second dev at %s: %v\n%s", name, err, out)
		}
	}
}

func devDemo(t *testing.T, path string) {
	d := startDev(t, path, t.TempDir(), "--demo")
	Eventually(t, "the end of the demo", func() error {
		if !strings.Contains(d.log.String(), "Still serving") {
			return errors.New("it has not said that it goes on serving")
		}
		return nil
	})
	live, err := d.Assets(t.Context(), dependency.AssetQuery{Status: dependency.Live})
	if err != nil || len(live.Items) != 11 {
		t.Errorf("%d assets are live after the demo, want 11: %v", len(live.Items), err)
	}
	d.end(syscall.SIGTERM)
	for _, line := range []string{"refused (409 has-dependants): 2 assets depend on \"oak-bark\"", "completed  clearing", "completed  forest-floor"} {
		if !strings.Contains(d.log.String(), line) {
			t.Errorf("the demo does not say %q:\n%s", line, d.log)
		}
	}
}
