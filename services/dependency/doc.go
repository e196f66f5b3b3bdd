// Package dependency decides in the graph what may be deleted, and drives what it has decided until it is done.
//
// # Authority
//
// The graph is the truth; the broker is a fast path. Every decision is one transaction on the port Graph, which locks what
// it decides on before it reads it (the graph is read-committed), reads in bulk, decides in memory item by item, and
// writes the difference. While one transaction runs, requests gather for the next.
//
//	T1  accept.go, closure.go   check; tombstone, deletion, erasure, flag and first entry of the trail, in one commit
//	T2  commands.go, sent.go    claim due flags (scheduled becomes deleting: the point of no return), publish, remove
//	T4  reports.go, progress.go what the asset service saw: complete, or note how far it is
//	R1  Commands.Claim          flags that are due and that nobody has claimed
//	R2  resend.go, streams.go   erasures that are not done and were not heard of, or that a lost broker held
//	    sets.go, owners.go      many assets in one T1; all of an owner's, page by page (drive.go)
//	    part.go                 all of this for one part of an asset that stays
//	    expiry.go, retention*.go    what has expired asks T1 like anybody, and is looked at again under the lock
//	    purge.go                    tombstones that nothing can come back to
//	    gate.go                 is this part of this generation still to be erased? may this caller write now?
//
// # States
//
//	asset     live ── T1 ──▶ deleting ── T4 ──▶ deleted ── PUT ──▶ live (a new, greater generation, no links)
//	             ◀─ cancel ─┘
//	part      present ── T1 ──▶ erasing ── T4 ──▶ erased;  a write once it is begun: present, in the new generation
//	deletion  scheduled ── claim when due ──▶ deleting ── T4 of its last asset ──▶ deleted
//	             └── cancel ──▶ cancelled          (due at once: T1 writes `deleting`)
//
// Cancel and the claim that begins a deletion take the same locks and ask only its status, so exactly one of both wins.
//
// # Failures
//
//	crash before T1 commits             nothing happened; the caller's repeat is a first request
//	crash after T1, before publishing   the flag is there; its claim expires, any replica's R1 publishes it
//	crash after publishing              the flag is published again: refused by the broker as a second copy, or met as a repeat
//	commit unknown                      the caller repeats and gets the same deletion
//	broker loses a command              R2 flags it again after resend_after of silence
//	broker loses everything             its streams are newer than the graph remembers: R2 at once, feed published again
//	a report is lost                    R2; the worker's ledger repeats the report
//	a report is late or doubled         it acts only on an asset that is deleting by that deletion in that generation
//	a report is forged                  the same; what is deleting it can complete, so only asset services may publish reports
//	two replicas                        claims keep them apart; what both do is harmless
package dependency
