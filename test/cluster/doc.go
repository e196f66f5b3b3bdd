// Package cluster runs the services as processes of their own on real stores, so that tests can kill, freeze, stop and
// restart each of them, and put proxies between them and the stores.
package cluster
