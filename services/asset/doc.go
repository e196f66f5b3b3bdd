// Package asset is the asset service: it erases the documents and objects of tombstoned assets, and writes and reads
// document parts. It knows the dependency service only through package events and the port Gate; an Inspector answers the
// questions of that service about the stores, and finds places by the same code as the Eraser.
//
// # One erase command
//
//	plan    which parts, and where: by our own policy, former places included     (plan.go, part.go)
//	look    at every place, documents and objects                                 (look.go)
//	open    the ledger: what is there, before anything of it is deleted           (inventory.go)
//	ask     the graph: is it still to be erased?                                  (plan.go)
//	remove  what was listed before the answer: the document, then its objects     (remove.go)
//	look    afresh; what is left or new goes into the ledger, and back to ask     (look.go)
//	finish  a part of which nothing is there: the ledger's last record            (look.go)
//	report  all parts in one message, or those that are finished                  (report.go)
//
// and then the worker acknowledges. The order is safe to cut anywhere: each step looks at the present state, and the next
// delivery of the command does whatever is left.
//
// # What may go wrong
//
//	a crash anywhere             the command comes again; the ledger knows what was there at first, so the evidence is true
//	a crash after the report     the ledger is done; the report is repeated, nothing else happens
//	the command is late, forged  the graph says no, or the ledger is done: nothing is deleted
//	or repeated
//	the asset was created again  its place holds another generation; or its versions were not listed before the answer
//	the ledger is lost           the graph still decides; only the evidence shrinks to what is still there
//	something lands meanwhile    the look before the end finds it; it needs a new answer
//	one part cannot go on        the others do; the command is parked (Blocked) or comes again (any other error)
//	a bucket hangs               its calls end in time, its breaker opens; other buckets have calls of their own
//	two workers, one command     each deletes what it listed; the first record of each kind in the ledger stands; a store may
//	                             list nothing beside a batch of the other, so that an empty look waits until none is open (believe.go)
//	what lands after the end     the recheck finds it: the same command once more, much later (recheck.go)
package asset
