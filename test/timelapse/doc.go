// Package timelapse runs the whole system in a bubble with a clock of its own (testing/synctest), so that an outage of hours
// takes a second: both services with their relays and workers as internal/app puts them together, on SQLite, stores in memory
// and a bus in memory.
package timelapse
