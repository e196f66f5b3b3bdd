package demo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// errLoading ends a run where it begins to load.
var errLoading = errors.New("loading")

// earlier is a service on which a run before came so far that the asset which goes first has this status, or gives this error.
type earlier struct {
	API
	status dependency.Status
	err    error
}

func (e earlier) Asset(_ context.Context, id string) (dependency.Asset, error) {
	return dependency.Asset{ID: id, Status: e.status}, e.err
}

func (earlier) PutAsset(context.Context, string, dependency.Put) (dependency.Asset, dependency.Outcome, error) {
	return dependency.Asset{}, "", errLoading
}

func TestALibraryIsLoadedUnlessARunBeforeWentOnToDelete(t *testing.T) {
	away := errors.New("no answer")
	for name, c := range map[string]struct {
		earlier earlier
		want    error
		says    string
	}{
		"nothing is there":                    {earlier{err: problem.New(problem.NotFound, "none")}, errLoading, "Loading"},
		"a run ended before it deleted":       {earlier{status: dependency.Live}, errLoading, "Loading"},
		"a run came to its first deletion":    {earlier{status: dependency.Deleting}, nil, "here already"},
		"a run came to its end":               {earlier{status: dependency.Deleted}, nil, "here already"},
		"nobody can tell what there is of it": {earlier{err: away}, away, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := Demo{API: c.earlier, Screen: NewScreen(&out, nil), Seed: 1}
			if err := d.Run(t.Context()); !errors.Is(err, c.want) || !strings.Contains(out.String(), c.says) {
				t.Errorf("want %v and %q, got %v and %q", c.want, c.says, err, out.String())
			}
		})
	}
}
