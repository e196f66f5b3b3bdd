package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// traceParent is the W3C trace context's header, version 00.
var traceParent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

type deleteIn struct {
	ID assetID `path:"id"`
	DeleteConditions
}

// DeleteConditions are what may be said with a deletion. It is exported so that huma sees it where it is embedded.
type DeleteConditions struct {
	WithDependants bool   `query:"with_dependants" doc:"Take along what depends on it."`
	Reason         string `query:"reason" maxLength:"1000" doc:"Kept in the audit trail."`
	IfMatch        string `header:"If-Match" doc:"The generation that is meant, in quotes; 412 when there is another."`
	IfPlan         string `header:"If-Plan" maxLength:"256" doc:"The hash of the plan that was agreed to; 409 plan-changed when it has changed since."`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"A repeat with the same key gets the first deletion, even after a re-creation."`
	Prefer         string `header:"Prefer" doc:"wait=N: answer when it is deleted, or after N seconds."`
	TraceParent    string `header:"traceparent" doc:"W3C trace context, carried along."`
}

// Resolve refuses conditions that would not be conditions: an empty header is most likely a script's unset variable.
func (in *DeleteConditions) Resolve(ctx huma.Context) []error {
	var faults []error
	ctx.EachHeader(func(name, value string) {
		switch name {
		case "If-Match", "If-Plan", "Idempotency-Key":
			if strings.TrimSpace(value) == "" {
				faults = append(faults, problem.New(problem.InvalidRequest, "%s is empty: leave it out or say what is meant", name).At(name))
			}
		}
	})
	if _, ok := generation(in.IfMatch); !ok && len(faults) == 0 {
		faults = append(faults, problem.New(problem.InvalidRequest, `If-Match takes one generation: "GENERATION"`).At("If-Match"))
	}
	return faults
}

// generation takes the generation out of an If-Match header, with its quotes or without; `*` and no header mean any. A weak
// tag or a list is refused: neither names one generation.
func generation(header string) (string, bool) {
	if header == "" || header == "*" {
		return "", true
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(header, `"`), `"`)
	quotes := len(header) - len(inner)
	return inner, inner != "" && quotes != 1 && !strings.ContainsAny(inner, "\", ") && !strings.HasPrefix(inner, "W/")
}

// request is what the service is asked.
func (in *DeleteConditions) request() dependency.DeleteRequest {
	r := dependency.DeleteRequest{
		WithDependants: in.WithDependants, Reason: in.Reason, IfPlan: strings.Trim(in.IfPlan, `"`),
		IdempotencyKey: in.IdempotencyKey, Wait: preferredWait([]string{in.Prefer}),
	}
	r.IfMatch, _ = generation(in.IfMatch)
	if traceParent.MatchString(in.TraceParent) {
		r.TraceParent = in.TraceParent
	}
	return r
}

// acceptedOut is a deletion that was asked for.
type acceptedOut struct {
	Status   int
	Location string `header:"Location"`
	Body     dependency.Deletion
}

// accepted answers 202 with a Location while the deletion runs, and 200 once there is nothing to wait for.
func accepted(d dependency.Deletion) *acceptedOut {
	out := &acceptedOut{Status: http.StatusOK, Body: filledDeletion(d)}
	if d.Status == dependency.Scheduled || d.Status == dependency.Deleting {
		out.Status, out.Location = http.StatusAccepted, "/v1/deletions/"+d.ID
	}
	return out
}

// deleteRoute is the deletion of one asset.
func (s *server) deleteRoute() {
	route(s, huma.Operation{
		OperationID: "delete-asset", Method: http.MethodDelete, Path: "/v1/assets/{id}", Tags: []string{"deletions"}, DefaultStatus: http.StatusAccepted,
		Summary:     "Delete an asset",
		Description: "202 with the deletion while it runs, also when it runs already; 200 once the asset is deleted.",
		Responses:   map[string]*huma.Response{"200": jsonResponse("Deleted", "Deletion")},
		Errors: []int{
			http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusLocked, http.StatusServiceUnavailable,
		},
	}, func(ctx context.Context, in *deleteIn) (*acceptedOut, error) {
		d, err := s.cfg.Dependency.Delete(ctx, string(in.ID), in.request())
		return accepted(d), err
	})
}
