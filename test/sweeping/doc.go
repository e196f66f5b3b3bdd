// Package sweeping holds the sweep to its size: over stores of any number of objects and documents it finds all orphans and
// nothing else, in memory that does not grow with them. The stores are seeded fakes behind the asset service's real ports;
// its Inspector, the dependency service and the SQLite graph are the real ones.
package sweeping
