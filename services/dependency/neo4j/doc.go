// Package neo4j keeps the graph in one database of Neo4j 5 (tested with 5.26), in any edition.
//
// # What is stored
//
//	(:Asset {id, kind, owner, generation, status, deletion, requested_at, due_at, attributes, parts, …})
//	(:Asset)-[:DEPENDS_ON {hidden}]->(:Asset)      one relationship type for each link type of the policy
//	(:Asset)-[:PENDING]->(:Command {id, deletion, asset, since, due_at, …})
//	(:Deletion {id, root, owner, status, …})       (:Erasure {deletion, asset, position, …})
//	(:AuditEntry {asset, sequence, …}), with :Unsent while the feed has not got it
//	(:OwnerUsage) (:IdempotencyKey) (:ClaimedPlace) (:GraphSetting)
//
// The label and the names of id, kind and owner are the policy's, and so are the relationship types and their direction.
// Times are native date-times in UTC; attributes, parts, steps and other nested things are JSON in a string. What is
// empty or zero is not stored.
//
// An adopted graph has nodes that we did not write. One without a generation is read as live, its own scalar properties
// as its attributes; SaveNodes adds our properties and leaves the node's own where they are.
//
// # Transactions
//
// Neo4j is read-committed, and adding a relationship to a dense node takes no lock on it. So Lock writes a property on
// each node (and removes it again), one after the other in order of ids, before the reads that decide; see lock.go.
// Every transaction, reading ones too, runs on the leader: a follower may lag behind.
//
// Update and View try again by themselves where the server undid the transaction, and where the connection was lost
// before the commit was sent; see attempt.go. A commit whose answer is lost is not tried again.
//
// Names cannot be parameters in Cypher. They are quoted in one place, names.go; everything else is a parameter, and the
// text of a statement does not depend on how many records it carries.
//
// A key is looked up with a hint to seek in its index. Without one the planner, which learns the size of an index long
// after it was filled, may read the whole of it for each key: of some thousand keys it does not come to an end.
package neo4j
