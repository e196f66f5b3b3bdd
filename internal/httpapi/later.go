package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
)

// laterCall is a call of the API that this build does not have yet. It answers 501, after the refusals that every call gives.
type laterCall struct {
	method, path string
	operator     bool
}

// laterCalls are those of the dependency service. A row goes when its call comes.
func laterCalls() []laterCall {
	return []laterCall{
		{method: http.MethodPost, path: "/v1/deletions"},
		{method: http.MethodGet, path: "/v1/batches/{batch}"},
	}
}

func (s *server) laterRoutes() {
	if s.cfg.Dependency == nil {
		return
	}
	for _, c := range laterCalls() {
		s.laterRoute(c)
	}
}

// laterRoute registers one call, with the path parameters that its pattern names.
func (s *server) laterRoute(c laterCall) {
	words := strings.FieldsFunc(strings.TrimPrefix(c.path, "/v1"), func(r rune) bool { return strings.ContainsRune("/{}.", r) })
	op := huma.Operation{
		OperationID: strings.ToLower(c.method) + "-" + strings.Join(words, "-"), Method: c.method, Path: c.path, Tags: []string{"later"},
		Summary: "Not in this build yet", Errors: []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusNotImplemented},
		SkipValidateParams: true,
	}
	for _, name := range pathParams(c.path) {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	if c.operator {
		op = forOperators(op)
	}
	route(s, op, func(ctx context.Context, in *laterIn) (*struct{}, error) {
		if err := s.exists(ctx, in); err != nil {
			return nil, err
		}
		return nil, problem.New(problem.NotImplemented, "%s %s is not in this build yet", c.method, c.path)
	})
}

// pathParams are the names in braces.
func pathParams(pattern string) []string {
	var names []string
	for part := range strings.SplitSeq(pattern, "/") {
		if strings.HasPrefix(part, "{") {
			names = append(names, strings.Trim(part, "{}"))
		}
	}
	return names
}

// laterIn holds the parameters that decide whether the thing asked for exists.
type laterIn struct {
	id, deletion string
}

// Resolve checks the form of the parameters that the pattern has.
func (in *laterIn) Resolve(ctx huma.Context) []error {
	in.id, in.deletion = ctx.Param("id"), ctx.Param("did")
	names := " " + strings.Join(pathParams(ctx.Operation().Path), " ") + " "
	switch {
	case strings.Contains(names, " id "):
		if err := checkID("id", in.id); err != nil {
			return []error{err}
		}
	case strings.Contains(names, " did ") && !isUUID(in.deletion), strings.Contains(names, " batch ") && !isUUID(ctx.Param("batch")):
		return []error{problem.New(problem.NotFound, "there is none with this id")}
	}
	return nil
}

// exists gives the refusal for what does not exist for the caller.
func (s *server) exists(ctx context.Context, in *laterIn) (err error) {
	switch {
	case in.id != "":
		_, err = s.cfg.Dependency.Asset(ctx, in.id)
	case in.deletion != "":
		_, err = s.cfg.Dependency.Deletion(ctx, in.deletion, "")
	}
	return err
}
