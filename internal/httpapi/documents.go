package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

type putDocumentIn struct {
	ID    assetID `path:"id"`
	Part  string  `path:"part" doc:"A document part of the asset's kind."`
	Lease string  `header:"Lease-Token" maxLength:"256" doc:"The writer's lease; 409 lease-lost when it is over."`
	Body  documentBody
}

type getDocumentIn struct {
	ID   assetID `path:"id"`
	Part string  `path:"part"`
}

type documentOut struct {
	Body map[string]any
}

// documentRoutes are the document parts of the asset service.
func (s *server) documentRoutes() {
	const path = "/v1/assets/{id}/documents/{part}"
	tags := []string{"documents"}
	route(s, huma.Operation{
		OperationID: "put-document", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Write a document part", DefaultStatus: http.StatusNoContent,
		Errors: []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *putDocumentIn) (*struct{}, error) {
		return nil, s.cfg.Asset.PutDocument(ctx, string(in.ID), in.Part, in.Body, in.Lease)
	})
	route(s, huma.Operation{
		OperationID: "get-document", Method: http.MethodGet, Path: path, Tags: tags, Summary: "Read a document part",
		Errors: append(readErrors(), http.StatusGone),
	}, func(ctx context.Context, in *getDocumentIn) (*documentOut, error) {
		body, err := s.cfg.Asset.GetDocument(ctx, string(in.ID), in.Part)
		return &documentOut{Body: body}, err
	})
}

// documentBody is a JSON object whose numbers reach the store as they were sent: int64 where there is no fraction and no
// exponent and they fit, else float64.
type documentBody map[string]any

// UnmarshalJSON reads the object.
func (b *documentBody) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var body map[string]any
	if err := decoder.Decode(&body); err != nil {
		return err
	}
	_, err := plainNumbers(body)
	*b = body
	return err
}

// plainNumbers replaces every json.Number below a value.
func plainNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return i, nil
		}
		return v.Float64()
	case []any:
		for i := range v {
			if v[i], err = plainNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = plainNumbers(v[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
