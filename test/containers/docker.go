package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
)

// ErrUnavailable is wrapped where the machine cannot run the container at all; a test is then skipped.
var ErrUnavailable = errors.New("cannot be run here")

// check ends the test when its server did not start: by skipping where the machine cannot run it and CI does not insist.
func check(t testing.TB, k kind, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable) && os.Getenv("CI") != "true":
		line, _, _ := strings.Cut(err.Error(), "\n")
		t.Skipf("skipped: %s %s", k.name, line)
	default:
		t.Fatalf("%s: %v", k.name, err)
	}
}

// available tells whether the engine answers and has the image, pulling it if need be.
func available(ctx context.Context, image string) error {
	p, err := provider()
	if err != nil {
		return fmt.Errorf("%w: Docker does not answer: %v", ErrUnavailable, err)
	}
	defer p.Close()
	if err := p.Health(ctx); err != nil {
		return fmt.Errorf("%w: Docker does not answer: %v", ErrUnavailable, err)
	}
	if _, err := p.Client().ImageInspect(ctx, image); err == nil {
		return nil
	}
	if err := p.PullImage(ctx, image); err != nil {
		return fmt.Errorf("%w: image %s cannot be pulled: %v", ErrUnavailable, image, err)
	}
	return nil
}

// provider connects to the engine. The library panics where it finds no address of one.
func provider() (p *testcontainers.DockerProvider, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return testcontainers.NewDockerProvider()
}
