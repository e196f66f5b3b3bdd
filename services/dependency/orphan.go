package dependency

import (
	"github.com/tombstone-project/tombstone/events"
)

// orphanhood tells what a lodger is to the graph.
type orphanhood struct {
	orphan bool
	why    string
	ahead  bool // it is of a generation that the graph should know, and does not
}

// orphaned decides by the node whether what lies at a place is nobody's any more: there is no such asset (a node without an
// id), it is deleted, or its part is in a later generation. What is still being erased is no orphan, and neither is anything
// of which there is a doubt.
func orphaned(l events.Lodger, n Node) orphanhood {
	orphan := func(why string) orphanhood { return orphanhood{orphan: true, why: why} }
	p := partState(n, l.Part)
	switch {
	case n.ID == "":
		return orphan("there is no such asset")
	case n.Status == Deleting, l.Kind != n.Kind, n.Generation == "", len(p.Open) > 0:
		return orphanhood{}
	case l.Generation > max(n.Generation, p.Generation):
		return orphanhood{orphan: true, ahead: true}
	case n.Status == Deleted:
		return orphan("the asset is deleted, by deletion " + n.Deletion)
	case l.Generation == "" || l.Generation >= p.Generation:
		return orphanhood{}
	}
	return orphan("the asset is in a later generation")
}
