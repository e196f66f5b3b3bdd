package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// stage is stores with scenes of their own on them, and a folder for what is beside.
type stage struct {
	*stores
	dir    string
	scenes []*scene
}

// onStage opens stores with an empty scene for each of the letters and lets do measure there. The number tells
// repetitions apart.
func onStage(ctx context.Context, o settings, number int, layout, letters string, do func(stage) error) (err error) {
	g := stage{}
	if g.dir, err = os.MkdirTemp("", "tombstone-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(g.dir)) }()
	for _, letter := range letters {
		sc, err := newScene(layout, fmt.Sprintf("%s%c-%x-%d", namespacePrefix, letter, time.Now().Unix(), number))
		if err != nil {
			return err
		}
		g.scenes = append(g.scenes, sc)
	}
	g.stores, err = openStores(ctx, o, g.dir, g.scenes...)
	if g.stores != nil {
		defer func() { err = errors.Join(err, g.close(context.WithoutCancel(ctx))) }()
	}
	if err != nil {
		return err
	}
	return do(g)
}
