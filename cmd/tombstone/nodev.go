//go:build nodev

package main

// devGrammar is empty: this build has no embedded stores.
type devGrammar struct{}
