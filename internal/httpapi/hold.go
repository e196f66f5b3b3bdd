package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// holdBody says why.
type holdBody struct {
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Shown with the asset, and by refused deletions."`
}

type holdIn struct {
	ID   assetID   `path:"id"`
	Body *holdBody `required:"false"`
}

type releaseIn struct {
	ID assetID `path:"id"`
}

// holdRoutes are the legal hold of an asset.
func (s *server) holdRoutes() {
	const path = "/v1/assets/{id}/hold"
	tags := []string{"operations"}
	route(s, forOperators(huma.Operation{
		OperationID: "hold-asset", Method: http.MethodPut, Path: path, Tags: tags, Summary: "Put an asset under legal hold",
		Description: "A held asset cannot be deleted; a deletion that is only scheduled stays so until the release. A second hold leaves the first as it is.",
		Errors:      append(readErrors(), http.StatusConflict),
	}), func(ctx context.Context, in *holdIn) (*struct{}, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return nil, s.cfg.Dependency.Hold(ctx, string(in.ID), reason)
	})
	route(s, forOperators(huma.Operation{
		OperationID: "release-asset", Method: http.MethodDelete, Path: path, Tags: tags, Summary: "End the legal hold of an asset",
		Errors: append(readErrors(), http.StatusConflict),
	}), func(ctx context.Context, in *releaseIn) (*struct{}, error) {
		return nil, s.cfg.Dependency.Release(ctx, string(in.ID))
	})
}
