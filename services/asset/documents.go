package asset

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
)

// PutDocument writes a document part of a live asset, whole. The caller is in the admission (its Write is set here). The
// body's fields are stored at top level beside the id and the generation, so that other readers of an adopted store find
// what they expect. Refusals: those of Gate.Admit, unknown-part when the part is no document, invalid-request for a field
// that cannot be stored, gone when the asset was erased meanwhile.
func (s *Service) PutDocument(ctx context.Context, a events.Admission, body map[string]any) error {
	a.Write = true
	ref, left, err := s.admit(ctx, a)
	if err != nil {
		return err
	}
	if err := checkBody(ref, body); err != nil {
		return err
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if left > 0 { // the store gives up with it, so that a write that hangs cannot land over that of the next worker
		limited, cancel = context.WithTimeout(ctx, left)
	}
	defer cancel()
	err = s.documents.Put(limited, ref, body)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return problem.New(problem.LeaseLost, "the lease on asset %q ended before the write was over; whether it was carried out is not known", a.Asset)
	}
	return storeFault("put document", err)
}

// GetDocument reads a document part of a live asset. Refusals: those of Gate.Admit, unknown-part, not-found when there is no
// document of the part's present generation.
func (s *Service) GetDocument(ctx context.Context, a events.Admission) (map[string]any, error) {
	ref, _, err := s.admit(ctx, a)
	if err != nil {
		return nil, err
	}
	body, err := s.documents.Get(ctx, ref)
	return body, storeFault("get document", err)
}

// storeFault lets refusals through, and makes of every other fault one of a store that cannot serve now: an obstacle is for
// its operator to see, in the log; the caller can only try again.
func storeFault(operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case problem.As(err) != nil:
		return fmt.Errorf("%s: %w", operation, err)
	}
	away := problem.New(problem.Unavailable, "the document store cannot serve this now; try again later").With("store", "documents")
	return fmt.Errorf("%s: %w: %w", operation, away, err)
}

// admit asks the gate, and works out where the document is. left is how long the caller's lease lasts; 0 without one.
func (s *Service) admit(ctx context.Context, a events.Admission) (ref DocumentRef, left time.Duration, err error) {
	admitted, err := s.gate.Admit(ctx, a)
	if err != nil {
		return ref, 0, fmt.Errorf("ask the graph: %w", err)
	}
	part, subject, err := s.part(a.Asset, a.Part, admitted)
	if err != nil {
		return ref, 0, err
	}
	if part.Document == nil {
		return ref, 0, problem.New(problem.UnknownPart, "part %q of kind %q holds objects; upload them instead", a.Part, admitted.Kind).At("part")
	}
	location, err := part.Location(subject)
	if err != nil {
		return ref, 0, err
	}
	return documentRef(location, admitted.Generation), admitted.LeaseLeft, nil
}

// checkBody refuses fields that are ours, and names that document stores keep for themselves.
func checkBody(ref DocumentRef, body map[string]any) error {
	for _, reserved := range []string{"_id", cmp.Or(ref.IDField, "_id"), FieldGeneration} {
		if _, ok := body[reserved]; ok {
			return problem.New(problem.InvalidRequest, "the field %q is kept by the service; send the document without it", reserved).At(reserved)
		}
	}
	return checkNames(body, "", maxDepth)
}

// maxDepth is how deep objects and arrays may be nested: what MongoDB takes ("MongoDB Limits and Thresholds").
const maxDepth = 100

func checkNames(value any, path string, depth int) error {
	if depth < 0 {
		return problem.New(problem.InvalidRequest, "objects and arrays are nested deeper than %d levels", maxDepth)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			if name == "" || strings.HasPrefix(name, "$") || strings.ContainsAny(name, ".\x00") {
				return problem.New(problem.InvalidRequest, "a field cannot be named %q: no name may be empty, begin with a dollar, or hold a dot or a null byte", name).At(at)
			}
			if err := checkNames(inner, at, depth-1); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := checkNames(inner, fmt.Sprintf("%s[%d]", path, i), depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}
