package crash

import (
	"fmt"
	"time"

	"github.com/tombstone-project/tombstone/problem"
)

// scenario is what a client does.
type scenario struct {
	name    string
	roles   []role
	prepare func(w *world) // what is there before
	play    func(c *client)
}

const manyObjects = "one asset with more objects than a page"

var apart = []role{dependencyRole, assetRole}

// scenarios are those of the exploration, the first for pairs of faults, too.
var scenarios = []scenario{
	{"one asset", apart, func(w *world) { w.create("mesh", "a", 3) }, (*client).deleteOne},
	{"one asset, both services in one process", []role{bothRoles}, func(w *world) { w.create("mesh", "a", 3) }, (*client).deleteOne},
	{manyObjects, apart, func(w *world) { w.create("scan", "a", 1100) }, (*client).deleteOne},
	{"two assets of which one depends on the other", apart, func(w *world) {
		w.create("scan", "b", 3)
		w.create("mesh", "a", 3, "b")
	}, (*client).deleteTwo},
	{"delete, create again, delete at once", apart, func(w *world) { w.create("scan", "a", 3) }, (*client).deleteTwice},
	{"delete, create again, delete later", apart, func(w *world) { w.create("scan", "a", 3) }, (*client).deleteTwiceWithRest},
	{"delete with a grace period, cancel, delete", apart, func(w *world) { w.create("slow", "a", 3) }, (*client).changeOnesMind},
}

func (c *client) deleteOne() { c.await(c.delete("a", "first")) }

// deleteTwo tries the wrong order first.
func (c *client) deleteTwo() {
	c.refused("b", problem.HasDependants)
	a, b := c.delete("a", "first"), c.delete("b", "second")
	c.refusedLink("c", "b", problem.LinkTargetDeleting)
	c.await(a, b)
}

func (c *client) deleteTwice() {
	first := c.delete("a", "first")
	c.await(first)
	c.createAgain("scan", "a", 2)
	c.deleteSecond(first)
}

// deleteTwiceWithRest gives late work time to harm the asset that was created again.
func (c *client) deleteTwiceWithRest() {
	first := c.delete("a", "first")
	c.await(first)
	c.createAgain("scan", "a", 2)
	c.late()
	c.deleteSecond(first)
}

func (c *client) deleteSecond(first string) {
	if c.ctx.Err() != nil {
		return
	}
	if old := c.delete("a", "first"); old != first && c.ctx.Err() == nil { // a late repeat of the first request
		c.w.violate("G5", "the key of the first deletion gave %s, not %s", old, first)
	}
	second := c.delete("a", "second")
	if second == first && c.ctx.Err() == nil {
		c.w.violate("G1", "the asset was created again, and its deletion is the old one")
	}
	c.await(second)
}

// changeOnesMind cancels at once, then in the moment in which the deletion is due, then after it.
func (c *client) changeOnesMind() {
	for i, after := range []time.Duration{0, c.w.grace, c.w.grace + time.Second} {
		deletion := c.delete("a", []string{"first", "second", "third"}[i])
		c.rest(after)
		if !c.cancel(deletion) {
			c.await(deletion)
			return
		}
	}
	c.await(c.delete("a", "last"))
}

func (s scenario) String() string { return fmt.Sprintf("%q", s.name) }
