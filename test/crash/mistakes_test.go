package crash

import (
	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/services/asset"
)

// mistake is one that was planted, and what must find it.
type mistake struct {
	plant
	scenario scenario
	breaks   string     // the guarantee
	by       fault.Kind // the fault that shows it soonest
	r2Hides  bool       // it is only seen without R2
}

var (
	oneAsset = scenarios[0]
	later    = scenarios[5]
)

// mistakes are known ways to get such a system wrong.
var mistakes = []mistake{
	{plant{name: "the flag is removed before the command is published", ofPublisher: sentFirst(commandMessages, removeFlags)}, oneAsset, "G1", fault.CrashAfter, true},
	{plant{name: "a command is acknowledged before it is handled", ofSubscriber: ackFirst("commands")}, oneAsset, "G1", fault.CrashAfter, true},
	{plant{name: "a report is acknowledged before it is handled", ofSubscriber: ackFirst("reports")}, oneAsset, "G1", fault.CrashAfter, true},
	{plant{name: "the flag is written in a transaction of its own", ofGraph: split(func(t *splitTx) { t.commands = true })}, oneAsset, "G1", fault.CrashAfter, true},
	{plant{name: "entries are marked as sent before they are published", ofPublisher: sentFirst(eventMessages, markSent)}, oneAsset, "G9", fault.CrashAfter, false},
	{plant{name: "the trail is written in a transaction of its own", ofGraph: split(func(t *splitTx) { t.entries = true })}, oneAsset, "G9", fault.CrashAfter, false},
	{plant{name: "counters are written in a transaction of their own", ofGraph: split(func(t *splitTx) { t.usage = true })}, oneAsset, "G8", fault.CrashAfter, false},
	{plant{name: "the Idempotency-Key is not kept", ofGraph: split(func(t *splitTx) { t.noKeys = true })}, later, "G5", fault.None, false},
	{plant{name: "the ledger forgets", ofLedger: func(asset.Ledger) asset.Ledger { return forgetful{} }}, oneAsset, "evidence", fault.CrashAfter, false},
	{plant{name: "the gate always says yes", ofGate: func(g asset.Gate) asset.Gate { return yes{g} }}, later, "G2", fault.Frozen, false},
	{plant{name: "documents are deleted by their key alone", ofDocuments: func(d asset.Documents) asset.Documents { return unfenced{d} }}, later, "G2", fault.Frozen, false},
	{plant{name: "objects are deleted by their place, not by the versions listed", ofBlobs: func(b asset.Blobs) asset.Blobs { return sweeping{b} }}, later, "G2", fault.Frozen, false},
	{plant{name: "unfinished uploads are not listed", ofBlobs: func(b asset.Blobs) asset.Blobs { return blind{b} }}, oneAsset, "G3", fault.None, false},
}
