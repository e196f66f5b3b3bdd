package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// bearerScheme names the one security scheme in the OpenAPI document.
const bearerScheme = "token"

// apiConfig describes the API. Documents and pages are served by us, so huma's own routes are off.
func apiConfig(version string) huma.Config {
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			Info: &huma.Info{
				Title:       "Tombstone",
				Version:     version,
				Description: "Deletes assets that live in a graph, a document store and an object store: all of it in the end, nothing else, and provably.",
				License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{SecuritySchemes: map[string]*huma.SecurityScheme{
				bearerScheme: {Type: "http", Scheme: "bearer", Description: "Not needed where the service runs without authentication."},
			}},
			Security: []map[string][]string{{bearerScheme: {}}},
		},
		Formats:                      map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	}
}

// maxNesting is how deep the objects and arrays of a body may be nested: more than the document stores take.
const maxNesting = 128

// unmarshal reads JSON, and refuses what encoding/json would silently read as something else, an id above all. A body is
// read twice: first to be validated, then into its type.
func unmarshal(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("the body is not valid UTF-8")
	}
	err := json.Unmarshal(data, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%s: a JSON %s does not fit there", wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("a JSON %s does not fit at byte %d", wrong.Value, wrong.Offset)
	case err != nil:
		return err
	}
	if _, first := v.(*any); first {
		return events.CheckJSON(data, maxNesting)
	}
	return nil
}

// route registers an operation whose errors become problem documents.
func route[I, O any](s *server, op huma.Operation, handle func(context.Context, *I) (*O, error)) {
	// Our own middleware bounds the body in size and time.
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1
	call := op.Method + " " + op.Path
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.documentOf(ctx, call, err)
		}
		return out, nil
	})
}

// jsonResponse describes an answer with the schema of another one of the API.
func jsonResponse(description, schema string) *huma.Response {
	body := &huma.MediaType{Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/json": body}}
}

// forOperators refuses callers without the role, before anything else of the request is looked at.
func forOperators(op huma.Operation) huma.Operation {
	op.Errors = append(op.Errors, http.StatusForbidden)
	op.Middlewares = append(op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		if c, ok := dependency.CallerFrom(ctx.Context()); !ok || !c.Operator {
			_, w := humachi.Unwrap(ctx)
			writeProblem(w, problem.New(problem.Forbidden, "this call needs the role operator"))
			return
		}
		next(ctx)
	})
	return op
}
