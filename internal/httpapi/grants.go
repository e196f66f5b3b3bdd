package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/asset"
)

// ttl is a Go duration in a body. Bounds are the policy's.
type ttl string

// Resolve refuses what is no duration, and one that is no time at all.
func (t ttl) Resolve(_ huma.Context, path *huma.PathBuffer) []error {
	if d, err := t.duration(); t != "" && (err != nil || d <= 0) {
		return []error{problem.New(problem.InvalidRequest, "a ttl is a duration above 0 with its unit, like 90s or 15m").At(parameter(path))}
	}
	return nil
}

func (t ttl) duration() (time.Duration, error) {
	if t == "" {
		return 0, nil
	}
	return time.ParseDuration(string(t))
}

// given is the duration that Resolve has looked at; 0 asks for the default.
func (t ttl) given() time.Duration {
	d, _ := t.duration()
	return d
}

// uploadBody asks for a URL for writing one object.
type uploadBody struct {
	Part  string `json:"part" minLength:"1" doc:"A part of the asset's kind that holds objects."`
	Name  string `json:"name,omitempty" maxLength:"1024" doc:"Name of the object below the part's prefix, without . and .. segments; not looked at where the part is one key."`
	TTL   ttl    `json:"ttl,omitempty" doc:"How long the URL lasts, a Go duration: at most the policy's grants.max_ttl." example:"15m"`
	Bytes *int64 `json:"bytes,omitempty" minimum:"1" maximum:"5368709120" doc:"Length of the object; signed, so that the store takes no other."`
}

// downloadBody asks for a URL for reading one.
type downloadBody struct {
	Part string `json:"part" minLength:"1" doc:"A part of the asset's kind that holds objects."`
	Name string `json:"name,omitempty" maxLength:"1024" doc:"Name of the object below the part's prefix; not looked at where the part is one key."`
	TTL  ttl    `json:"ttl,omitempty" doc:"How long the URL lasts, a Go duration: 60s at most." example:"60s"`
}

type uploadIn struct {
	ID   assetID `path:"id"`
	Body uploadBody
}

type downloadIn struct {
	ID   assetID `path:"id"`
	Body downloadBody
}

type grantOut struct {
	Body asset.Grant
}

// grantRoutes give out presigned URLs.
func (s *server) grantRoutes() {
	tags := []string{"objects"}
	refusals := []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusGone, http.StatusServiceUnavailable}
	route(s, huma.Operation{
		OperationID: "grant-upload", Method: http.MethodPost, Path: "/v1/assets/{id}/uploads", Tags: tags, Summary: "Get a URL for writing one object",
		Description: "A presigned PUT; send the headers as they are. A deletion waits for its deadline and grants.margin. 422 no-grant where the part's place lacks {generation}.",
		Errors:      refusals,
	}, func(ctx context.Context, in *uploadIn) (*grantOut, error) {
		g, err := s.cfg.Asset.Upload(ctx, string(in.ID), asset.ObjectRequest{Part: in.Body.Part, Name: in.Body.Name, TTL: in.Body.TTL.given()}, in.Body.Bytes)
		return &grantOut{Body: g}, err
	})
	route(s, huma.Operation{
		OperationID: "grant-download", Method: http.MethodPost, Path: "/v1/assets/{id}/downloads", Tags: tags, Summary: "Get a URL for reading one object",
		Description: "A presigned GET that lasts 60 s at most, whether the object is there or not.", Errors: refusals,
	}, func(ctx context.Context, in *downloadIn) (*grantOut, error) {
		g, err := s.cfg.Asset.Download(ctx, string(in.ID), asset.ObjectRequest{Part: in.Body.Part, Name: in.Body.Name, TTL: in.Body.TTL.given()})
		return &grantOut{Body: g}, err
	})
}
