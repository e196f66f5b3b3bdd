package cluster

import (
	"strings"

	"github.com/tombstone-project/tombstone/test/stores"
)

// given is what else is so when a process comes to a point.
type given int

const (
	plain   given = iota // a mesh with everything in it is deleted
	waiting              // and the workers are frozen meanwhile, so that the command waits with the broker
	late                 // an asset whose deletion begins some seconds after it was accepted
)

// killPoint is a moment between two steps of the saga at which a process dies. NAMESPACE and BUCKET stand for the test's.
type killPoint struct {
	name  string
	role  Role
	store Store
	given given
	point Point
}

// afterCommit is a moment when a transaction was committed, and the process does not know yet.
func afterCommit(marker string) Point {
	return Point{Sent: []string{marker, commit}, Answer: AnyAnswer}
}

// beforeCommit is a moment when all of a transaction was sent but for its end.
func beforeCommit(marker string) Point { return Point{Sent: []string{marker, commit}} }

// killPoints are the steps of one deletion in the order of docs/architecture.md, with the moments before and after each
// effect. What a process does between two of them changes nothing outside of it.
var killPoints = []killPoint{
	// T1
	{"before the acceptance is committed", Dependency, Graph, plain, beforeCommit("deletion.requested.v1")},
	{"after the acceptance is committed, before the 202", Dependency, Graph, plain, afterCommit("deletion.requested.v1")},
	// T2
	{"before a deletion that is due begins", Dependency, Graph, late, beforeCommit("MERGE (c:Command")},
	{"after a deletion that was due began, before it is published", Dependency, Graph, late, afterCommit("MERGE (c:Command")},
	{"before the command is published", Dependency, Broker, plain, Point{Sent: []string{"NAMESPACE.command.erase."}}},
	{"after the broker has the command", Dependency, Broker, plain, Point{Sent: []string{"NAMESPACE.command.erase."}, Answer: `_COMMANDS"`}},
	{"before the flag is removed", Dependency, Graph, waiting, beforeCommit("DETACH DELETE c")},
	{"after the flag is removed", Dependency, Graph, waiting, afterCommit("DETACH DELETE c")},
	// R2
	{"before an unheard-of command is flagged again", Dependency, Graph, waiting, beforeCommit("resend")},
	{"after an unheard-of command is flagged again", Dependency, Graph, waiting, afterCommit("resend")},
	{"before the command that waits is purged", Dependency, Broker, waiting, Point{Sent: []string{"STREAM.PURGE."}}},
	{"after the command that waits is purged, before its replacement is published", Dependency, Broker, waiting,
		Point{Sent: []string{"STREAM.PURGE."}, Answer: `"purged"`}},
	// T3
	{"with the command in hand", Asset, Broker, plain, Point{Answer: "NAMESPACE.command.erase."}},
	{"before it looks for documents", Asset, Documents, plain, Point{Sent: []string{"notes\x00"}}},
	{"before it lists objects", Asset, Blobs, plain, Point{Sent: []string{"encoding-type=url"}}},
	{"after it has listed objects", Asset, Blobs, plain, Point{Sent: []string{"encoding-type=url"}, Answer: AnyAnswer}},
	{"before the inventory is written", Asset, Documents, plain, Point{Sent: []string{"insert\x00", "inventory\x00"}}},
	{"after the inventory is written", Asset, Documents, plain, Point{Sent: []string{"insert\x00", "inventory\x00"}, Answer: AnyAnswer}},
	{"before the graph is asked", Asset, Broker, plain, Point{Sent: []string{"NAMESPACE.rpc.gate."}}},
	{"before the graph's answer is sent", Dependency, Broker, plain, Point{Sent: []string{`{"answers":[`}}},
	{"after the graph has answered, before anything is deleted", Asset, Broker, plain, Point{Sent: []string{"NAMESPACE.rpc.gate."}, Answer: `{"answers":[`}},
	{"after a document is deleted", Asset, Documents, plain, Point{Sent: []string{"delete\x00\x0d\x00\x00\x00descriptions\x00"}, Answer: AnyAnswer}},
	{"after some documents are deleted", Asset, Documents, plain, Point{Sent: []string{"delete\x00\x06\x00\x00\x00notes\x00"}}},
	{"after all documents are deleted", Asset, Documents, plain, Point{Sent: []string{"delete\x00\x06\x00\x00\x00notes\x00"}, Answer: AnyAnswer}},
	{"before objects are deleted", Asset, Blobs, plain, Point{Sent: []string{"POST /BUCKET?delete"}}},
	{"after some objects are deleted", Asset, Blobs, plain, Point{Sent: []string{"POST /BUCKET?delete"}, Answer: AnyAnswer}},
	{"after some objects are deleted, before the others are", Asset, Blobs, plain, Point{Since: "POST /BUCKET?delete", Sent: []string{"POST /BUCKET?delete"}}},
	{"after all objects are deleted, before it looks again", Asset, Blobs, plain, Point{Since: "POST /BUCKET?delete", Sent: []string{"encoding-type=url"}}},
	{"after nothing was found any more", Asset, Blobs, plain, Point{Since: "POST /BUCKET?delete", Sent: []string{"encoding-type=url"}, Answer: AnyAnswer}},
	{"before the end is written into the ledger", Asset, Documents, plain, Point{Sent: []string{"insert\x00", "evidence\x00"}}},
	{"after the end is written into the ledger", Asset, Documents, plain, Point{Sent: []string{"insert\x00", "evidence\x00"}, Answer: AnyAnswer}},
	{"before the report", Asset, Broker, plain, Point{Sent: []string{"NAMESPACE.report.asset.erased"}}},
	{"after the broker has the report", Asset, Broker, plain, Point{Sent: []string{"NAMESPACE.report.asset.erased"}, Answer: `_REPORTS"`}},
	{"before the command is acknowledged", Asset, Broker, plain, Point{Sent: []string{"$JS.ACK.", "+ACK"}}},
	{"after the command is acknowledged", Asset, Broker, plain, Point{Sent: []string{"$JS.ACK.", "+ACK"}, Answer: "MSG NAMESPACE.inbox."}},
	// T4
	{"with the report in hand", Dependency, Broker, plain, Point{Answer: "NAMESPACE.report.asset.erased"}},
	{"before the completion is committed", Dependency, Graph, plain, beforeCommit("deletion.completed.v1")},
	{"after the completion is committed", Dependency, Graph, plain, afterCommit("deletion.completed.v1")},
	{"before the report is acknowledged", Dependency, Broker, plain, Point{Sent: []string{"$JS.ACK.", "+ACK"}}},
	{"after the report is acknowledged", Dependency, Broker, plain, Point{Sent: []string{"$JS.ACK.", "+ACK"}, Answer: "MSG NAMESPACE.inbox."}},
	// the feed
	{"before the feed gets entries of the trail", Dependency, Broker, plain, Point{Sent: []string{"NAMESPACE.event.deletion.completed"}}},
	{"after the feed has entries of the trail", Dependency, Broker, plain, Point{Sent: []string{"NAMESPACE.event.deletion.completed"}, Answer: `_EVENTS"`}},
	{"before entries of the trail are marked as sent", Dependency, Graph, plain, beforeCommit("REMOVE e:Unsent")},
	{"after entries of the trail are marked as sent", Dependency, Graph, plain, afterCommit("REMOVE e:Unsent")},
}

// in gives the point with a test's own names.
func (p Point) in(s *stores.Stores) Point {
	names := strings.NewReplacer("BUCKET", s.Bucket, "NAMESPACE", s.Namespace)
	own := Point{Since: names.Replace(p.Since), Answer: names.Replace(p.Answer)}
	for _, text := range p.Sent {
		own.Sent = append(own.Sent, names.Replace(text))
	}
	return own
}
