package graphtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Link types of the tests.
const (
	needs = "DEPENDS_ON"
	uses  = "USES"
	names = "REFERENCES"
)

// epoch is the time that the tests count from; at gives the time some microseconds after it.
var epoch = time.Date(2026, 2, 28, 23, 59, 59, 999_999_000, time.UTC)

func at(micros int) time.Time { return epoch.Add(time.Duration(micros) * time.Microsecond) }

func ptr[T any](v T) *T { return &v }

// newID gives a UUIDv7, greater than those before.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// node is a live asset of the owner.
func node(id, owner string) dependency.Node {
	return dependency.Node{ID: id, Kind: "mesh", Owner: owner, Generation: newID(), Status: dependency.Live, CreatedAt: at(1), UpdatedAt: at(2)}
}

// nodes gives count live assets with ids that begin with the prefix.
func nodes(prefix, owner string, count int) (all []dependency.Node) {
	for i := range count {
		all = append(all, node(fmt.Sprintf("%s-%05d", prefix, i), owner))
	}
	return all
}

// tombstone is the node turned into one by the deletion.
func tombstone(n dependency.Node, status dependency.Status, deletion string) dependency.Node {
	n.Status, n.Deletion, n.RequestedAt, n.DueAt = status, deletion, at(10), at(20)
	return n
}

func link(from, linkType, to string) dependency.Link {
	return dependency.Link{From: from, Type: linkType, To: to}
}

// deletion is an accepted request for one asset.
func deletion(root, owner string, status dependency.Status) dependency.DeletionRecord {
	return dependency.DeletionRecord{ID: newID(), Root: root, Owner: owner, Status: status, RequestedBy: "ann", RequestedAt: at(10), DueAt: at(20), Total: 1}
}

// erasure is what the deletion does to an asset.
func erasure(deletion, asset string, position int) dependency.Erasure {
	return dependency.Erasure{Deletion: deletion, Asset: asset, Position: position, Kind: "mesh", Owner: "o", Generation: newID(), Why: "requested", CheckAt: at(30)}
}

func command(deletion, asset string) dependency.Command {
	return dependency.Command{ID: newID(), Deletion: deletion, Asset: asset, DueAt: at(20), Since: at(10)}
}

func entry(asset string, sequence int64) dependency.Entry {
	return dependency.Entry{ID: newID(), Asset: asset, Sequence: sequence, Type: "tombstone.deletion.requested.v1", Time: at(int(sequence))}
}

// oddIDs are legal ids (1–256 bytes of UTF-8 without control characters) that stores are known to trip over.
var oddIDs = []string{
	"plain", "PLAIN", "plain ", " ", "  two  spaces  ", `double"quote`, "apo'strophe", "back`tick", `back\slash`, `\u0041`, "100%_like*?", "a/b/../c", "..",
	"$param {curly}", `{"json":1}`, `["list"]`, "null", "true", "123", "1e3", "0x10", "-- ; DROP", "<&>", "a;b,c|d", "line\u2028separator", "zero\u200bwidth",
	"é", "ﬀ", "ß", "İ", "名前", "عربى", "\u00a0", "\ue000", "\uffee", "\uffff", "🪦", "🪦🪦", "\U00010000", "\U00010348x", "\U0010ffff",
	strings.Repeat("x", 256), strings.Repeat("🪦", 64), strings.Repeat("'", 256), strings.Repeat(`\`, 255),
}
