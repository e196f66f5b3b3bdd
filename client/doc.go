// Package client is the Go client of Tombstone's HTTP API. A Client implements the interfaces of services/dependency
// (AssetsAPI, DeletionsAPI, OperationsAPI, …), so that code written against them runs in one process with the services or
// far from them.
//
// Refusals come back as *problem.Problem, by the same names that the services use:
//
//	_, err := c.Delete(ctx, "mesh/rock-1", dependency.DeleteRequest{})
//	if errors.Is(err, problem.HasDependants) { … }
//
// A service that cannot be reached, and an answer that is not Tombstone's (a proxy's error page, another service at the
// address), are ordinary errors that name the address. In particular a 404 without a problem document is never taken for
// "not found".
package client
