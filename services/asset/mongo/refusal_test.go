package mongo_test

import (
	"testing"

	"github.com/tombstone-project/tombstone/internal/devstack/devtest"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// FerretDB keeps no arrays in arrays; MongoDB does.
func TestADocumentThatTheServerRefusesIsTheCallersFault(t *testing.T) {
	s := open(t, devtest.Documents(t).URI())
	ref := asset.DocumentRef{Collection: devtest.Name("c"), Key: "k", Generation: "g"}
	err := s.Put(t.Context(), ref, map[string]any{"matrix": []any{[]any{1.0}, []any{2.0}}})
	if p := problem.As(err); p == nil || p.Name != problem.InvalidRequest {
		t.Errorf("a document with arrays in an array: %v, want the refusal %s", err, problem.InvalidRequest)
	}
	if err := s.Put(t.Context(), ref, map[string]any{"list": []any{1.0}}); err != nil {
		t.Errorf("a document with a list: %v", err)
	}
}
