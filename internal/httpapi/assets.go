package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// putBody is the body of PUT /v1/assets/{id}.
type putBody struct {
	Kind       string         `json:"kind" doc:"A kind of the policy; it never changes."`
	Owner      string         `json:"owner,omitempty" doc:"Default: the caller's own. It is fixed at creation."`
	Attributes map[string]any `json:"attributes,omitempty" doc:"Replaces all attributes; absent: they stay as they are."`
	Links      *[]linkBody    `json:"links,omitempty" doc:"Replaces all outgoing links; absent: they stay as they are."`
	Bytes      *int64         `json:"bytes,omitempty" minimum:"0" doc:"What the asset counts towards its owner's quota."`
}

// linkBody is one outgoing link.
type linkBody struct {
	Type string `json:"type" doc:"A link type of the policy."`
	To   string `json:"to" doc:"Id of the target."`
}

// put is the body as the service takes it.
func (b putBody) put() dependency.Put {
	p := dependency.Put{Kind: b.Kind, Owner: b.Owner, Attributes: b.Attributes, Bytes: b.Bytes}
	if b.Links != nil {
		links := make([]dependency.LinkTo, len(*b.Links))
		for i, l := range *b.Links {
			links[i] = dependency.LinkTo{Type: l.Type, To: l.To}
		}
		p.Links = &links
	}
	return p
}

type putAssetIn struct {
	ID   assetID `path:"id" doc:"1 to 256 bytes of UTF-8 in NFC without control characters, percent-encoded as one segment."`
	Body putBody
}

type getAssetIn struct {
	ID assetID `path:"id"`
}

type assetOut struct {
	Status int
	Body   dependency.Asset
}

type listAssetsIn struct {
	Kind   string `query:"kind"`
	Status string `query:"status" enum:"live,deleting,deleted"`
	Owner  string `query:"owner"`
	Cursor cursor `query:"cursor" doc:"next_cursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type assetsOut struct {
	Body dependency.Page[dependency.Asset]
}

type dependantsIn struct {
	ID     assetID `path:"id"`
	Cursor cursor  `query:"cursor" doc:"next_cursor of the page before."`
}

type dependantsOut struct {
	Body dependency.Page[dependency.Dependant]
}

// assetRoutes are creating and reading assets.
func (s *server) assetRoutes() {
	tags := []string{"assets"}
	route(s, huma.Operation{
		OperationID: "put-asset", Method: http.MethodPut, Path: "/v1/assets/{id}", Tags: tags,
		Summary:     "Create or change an asset",
		Description: "201 when it is new (or new again after it was deleted), 200 when it was there.",
		Responses:   map[string]*huma.Response{"201": jsonResponse("Created", "Asset")},
		Errors:      []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable},
	}, s.putAsset)
	route(s, huma.Operation{
		OperationID: "get-asset", Method: http.MethodGet, Path: "/v1/assets/{id}", Tags: tags,
		Summary: "Read an asset, in every status", Errors: readErrors(),
	}, s.getAsset)
	route(s, huma.Operation{
		OperationID: "list-assets", Method: http.MethodGet, Path: "/v1/assets", Tags: tags,
		Summary: "List assets", Errors: readErrors(),
	}, s.listAssets)
	route(s, huma.Operation{
		OperationID: "list-dependants", Method: http.MethodGet, Path: "/v1/assets/{id}/dependants", Tags: tags,
		Summary: "List direct dependants, with the link type", Errors: readErrors(),
	}, s.listDependants)
}

// readErrors are the status codes of calls that change nothing; huma appends to the slice.
func readErrors() []int {
	return []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusServiceUnavailable}
}

func (s *server) putAsset(ctx context.Context, in *putAssetIn) (*assetOut, error) {
	a, outcome, err := s.cfg.Dependency.PutAsset(ctx, string(in.ID), in.Body.put())
	if err != nil {
		return nil, err
	}
	out := &assetOut{Status: http.StatusOK, Body: filledAsset(a)}
	if outcome == dependency.Created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (s *server) getAsset(ctx context.Context, in *getAssetIn) (*assetOut, error) {
	a, err := s.cfg.Dependency.Asset(ctx, string(in.ID))
	return &assetOut{Status: http.StatusOK, Body: filledAsset(a)}, err
}

func (s *server) listAssets(ctx context.Context, in *listAssetsIn) (*assetsOut, error) {
	page, err := s.cfg.Dependency.Assets(ctx, dependency.AssetQuery{
		Kind: in.Kind, Status: dependency.Status(in.Status), Owner: in.Owner, Cursor: string(in.Cursor), Limit: in.Limit,
	})
	page.Items = filled(page.Items)
	for i := range page.Items {
		page.Items[i] = filledAsset(page.Items[i])
	}
	return &assetsOut{Body: page}, err
}

func (s *server) listDependants(ctx context.Context, in *dependantsIn) (*dependantsOut, error) {
	page, err := s.cfg.Dependency.Dependants(ctx, string(in.ID), string(in.Cursor))
	page.Items = filled(page.Items)
	return &dependantsOut{Body: page}, err
}
