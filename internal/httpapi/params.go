package httpapi

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
)

// assetID is a path parameter that must be a legal id.
type assetID string

// Resolve refuses an illegal id, naming the parameter.
func (id *assetID) Resolve(_ huma.Context, path *huma.PathBuffer) []error {
	if err := checkID(parameter(path), string(*id)); err != nil {
		return []error{err}
	}
	return nil
}

// checkID refuses an illegal id.
func checkID(field, id string) error {
	err := policy.ValidateID(id)
	if p := problem.As(err); p != nil {
		return p.At(field)
	}
	return err
}

// deletionID is a path parameter that can only name something when it is a UUID.
type deletionID string

// Resolve answers like for an unknown deletion, and says what is meant: mostly it is the id of an asset.
func (id *deletionID) Resolve(huma.Context, *huma.PathBuffer) []error {
	if !isUUID(string(*id)) {
		return []error{problem.New(problem.NotFound, "there is no deletion %q: a deletion's id is a UUID, and GET /v1/assets/{id} or `tombstone status ID` tells that of an asset", string(*id))}
	}
	return nil
}

// isUUID tells whether s is a UUID as Tombstone writes them.
func isUUID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

// maxCursor is the longest cursor that is looked at, in bytes; ours hold an id at most.
const maxCursor = 2048

// cursor is a query parameter that continues a list. Its content is the service's affair.
type cursor string

// Resolve refuses what cannot be a cursor.
func (c *cursor) Resolve(_ huma.Context, path *huma.PathBuffer) []error {
	s := string(*c)
	if len(s) > maxCursor || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return []error{problem.New(problem.InvalidRequest, "send next_cursor of the page before, as it was").At(parameter(path))}
	}
	return nil
}

// parameter is the name of the parameter at a path like "query.cursor".
func parameter(path *huma.PathBuffer) string {
	_, name, _ := strings.Cut(path.String(), ".")
	return name
}
