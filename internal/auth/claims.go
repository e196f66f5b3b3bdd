package auth

import (
	"slices"
	"strings"

	"github.com/tombstone-project/tombstone/policy"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// caller is whom the claims of a token name. An operator needs no owner.
func (o OIDC) caller(subject string, claims map[string]any) (dependency.Caller, error) {
	if subject == "" {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "the token names no subject")
	}
	c := dependency.Caller{Subject: subject, Operator: slices.Contains(words(claim(claims, o.RolesClaim)), o.OperatorRole)}
	owner, given := claim(claims, o.OwnerClaim).(string)
	switch {
	case given:
		c.Owner = owner
	case c.Operator:
		c.Owner = "default"
	}
	if err := policy.ValidateID(c.Owner); err != nil {
		return dependency.Caller{}, problem.New(problem.Unauthenticated, "the token names no owner: its claim %q must hold one", o.OwnerClaim)
	}
	return c, nil
}

// claim finds a claim by its name, or by the names on the way to it with dots between them; nil when there is none.
func claim(claims map[string]any, name string) any {
	if value, ok := claims[name]; ok {
		return value
	}
	first, rest, deeper := strings.Cut(name, ".")
	if inner, ok := claims[first].(map[string]any); ok && deeper {
		return claim(inner, rest)
	}
	return nil
}

// words are the strings of an array, or of a text.
func words(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				list = append(list, text)
			}
		}
	}
	return list
}
