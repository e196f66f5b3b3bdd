// Package crash explores what a fault at any call of any port does to a deletion. See docs/crash-matrix.md for what it found.
//
// A run is the whole system in one bubble of testing/synctest: both services, their relays and workers, on SQLite, stores in
// memory and a bus in memory. Every call of every port waits for its turn (schedule), so that one call runs at a time, the
// order is the same in every run, and time goes on only when nothing else can. A first run of a scenario records the calls;
// then each is given each fault (internal/fault) in a run of its own. What crashes is started again, what is frozen gets a
// second replica beside it and is woken at the end; then time passes, every message is delivered once more, and every
// guarantee of DESIGN section 2 is checked over all stores.
//
// The same scenarios and checks run on embedded stores, too, in real time and with a fault at the n-th call of its kind: what
// breaks there must be what the matrix says.
//
// Random schedules use the same world: rapid draws what a client does with two assets, faults at any calls, and the order of
// calls; a small model says what each answer may be.
package crash
