// Package httpapi serves the HTTP API of both services: it turns requests into calls of the interfaces of
// services/dependency (and of AssetAPI), and their answers and refusals into JSON.
//
// Nothing is decided here but what concerns HTTP itself: who calls (the Authenticator), how large and how long a request
// may be, and whether it is well formed. Every refusal leaves as RFC 9457 application/problem+json; problem.Name.Status is
// the one table between names and status codes.
//
// Ids hold slashes, dots, percent signs and spaces. Requests are therefore routed by their escaped path, each path
// parameter is unescaped exactly once, and no path is ever cleaned or redirected.
package httpapi
