package neo4j

import (
	"context"
	"slices"

	"github.com/tombstone-project/tombstone/services/dependency"
)

// Setting a property locks the node for writing until the end of the transaction; removing it again leaves nothing to
// be stored. The rows of UNWIND are handled in their order, so the locks are taken in it. An owner is made where it does
// not exist, so that it can be locked before its first asset. (The server locks what is not there, too, by its entry in
// the unique index; nothing relies on it.)
const (
	lockAssets    = "UNWIND $ids AS id MATCH (n:<asset> {<id>: id}) USING INDEX SEEK n:<asset>(<id>) SET n.locked = true REMOVE n.locked"
	lockDeletions = "UNWIND $ids AS id MATCH (n:Deletion {id: id}) USING INDEX SEEK n:Deletion(id) SET n.locked = true REMOVE n.locked"
	lockOwners    = "UNWIND $ids AS id MERGE (n:OwnerUsage {owner: id}) SET n.locked = true REMOVE n.locked"
)

// Lock takes the locks in one order: assets, deletions, owners, each by id. The reads that decide come in later
// statements: what the locking statement itself has read may be older than its locks.
func (t *tx) Lock(ctx context.Context, l dependency.Locks) error {
	for _, step := range []struct {
		text string
		ids  []string
	}{{lockAssets, l.Assets}, {lockDeletions, l.Deletions}, {lockOwners, l.Owners}} {
		ids := inOrder(step.ids)
		if len(ids) == 0 {
			continue
		}
		if err := t.write(ctx, "lock", step.text, params{"ids": ids}); err != nil {
			return err
		}
	}
	return nil
}

// inOrder gives the strings sorted, each once.
func inOrder(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}
