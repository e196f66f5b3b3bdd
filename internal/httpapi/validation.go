package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/tombstone-project/tombstone/problem"
)

// useProblems makes huma answer with our documents, match the members of bodies exactly, and describe lists as lists. These
// switches are global in huma, and are set once.
var useProblems = sync.OnceFunc(func() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return newDocument(validationProblem(status, message, errs))
	}
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
})

// fault is one of several faults of a request.
type fault struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// validationProblem is the refusal of a request that huma or one of our own checks found fault with. Our own refusals come
// first, unless the body could not even be read. With several faults the member `errors` has them all.
func validationProblem(status int, message string, errs []error) *problem.Problem {
	var faults []fault
	for _, err := range errs {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return problem.New(problem.PayloadTooLarge, "the body is longer than %d bytes", tooLarge.Limit).At("body")
		}
		if p := problem.As(err); p != nil {
			if status == http.StatusUnprocessableEntity {
				return p
			}
		} else if err != nil {
			faults = append(faults, faultOf(err))
		}
	}
	switch {
	case status == http.StatusUnsupportedMediaType:
		return problem.New(problem.InvalidRequest, "send the body as application/json").At("Content-Type")
	case status >= http.StatusInternalServerError:
		return problem.New(problem.Internal, "%s", message)
	case len(faults) == 0:
		return problem.New(problem.InvalidRequest, "%s", message).At("body")
	}
	p := problem.New(problem.InvalidRequest, "%s", faults[0].Detail).At(faults[0].Field)
	if len(faults) > 1 {
		p.With("errors", faults)
	}
	return p
}

// faultOf takes the place out of an error of huma: "body.links[0].to" is the field links[0].to.
func faultOf(err error) fault {
	var detailed *huma.ErrorDetail
	if !errors.As(err, &detailed) {
		return fault{Field: "body", Detail: err.Error()}
	}
	where, field, inside := strings.Cut(detailed.Location, ".")
	var missing string
	if _, err := fmt.Sscanf(detailed.Message, validation.MsgExpectedRequiredProperty, &missing); err == nil {
		return fault{Field: strings.TrimPrefix(field+"."+missing, "."), Detail: detailed.Message}
	}
	if !inside {
		return fault{Field: where, Detail: detailed.Message}
	}
	return fault{Field: field, Detail: field + ": " + detailed.Message}
}
