package httpapi

import (
	"context"
	"io"
	"mime"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	importPath = "/v1/assets"
	importType = "application/x-ndjson"
)

// importIn hands the body on as a stream.
type importIn struct {
	lines io.Reader
}

// Resolve takes the body, when it is of the right type.
func (in *importIn) Resolve(ctx huma.Context) []error {
	if media, _, err := mime.ParseMediaType(ctx.Header("Content-Type")); err != nil || media != importType {
		return []error{problem.New(problem.InvalidRequest, "send %s: the body of a PUT with its id, a line for each asset", importType).At("Content-Type")}
	}
	in.lines = ctx.BodyReader()
	return nil
}

type importOut struct {
	Body dependency.ImportResult
}

// importRoute is the import in bulk.
func (s *server) importRoute() {
	route(s, huma.Operation{
		OperationID: "import-assets", Method: http.MethodPost, Path: importPath, Tags: []string{"assets"},
		Summary:     "Import assets, one JSON object a line",
		Description: "A line is the body of a PUT with `id`. Links are applied after all lines; a bad line does not stop the rest.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{importType: {Schema: &huma.Schema{Type: huma.TypeString}}}},
		Errors:      []int{http.StatusUnauthorized, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *importIn) (*importOut, error) {
		result, err := s.cfg.Dependency.ImportAssets(ctx, in.lines)
		result.Errors = filled(result.Errors)
		return &importOut{Body: result}, err
	})
}
