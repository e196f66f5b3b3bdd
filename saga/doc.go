// Package saga moves a deletion through three stores that share no transaction: the graph that decides, the document store,
// the object store. It holds the moving parts and what they ask of their surroundings; it knows no service, no broker and
// no store, so that it can be explored exhaustively.
//
//   - Relay: flag → message. It empties an Outbox into a Publisher.
//   - Worker: message → handler → end of the delivery. It empties a Subscriber into a handler.
//   - Decide: what becomes of a delivery, in one switch.
//
// # Authority
//
// The graph is the truth: what is to be deleted, whether it still may be, and whether it is done. The bus is a fast path: it
// may lose, repeat, reorder and keep back whatever it was given, its disk included. What drives a deletion to its end is
// therefore "the graph says not completed", never "a message was sent". The asset service decides nothing: before each
// destructive step it asks the graph.
//
// # States of a deletion
//
//	            cancel
//	scheduled ─────────> cancelled
//	    │
//	    │ due: written in the graph before anything is published
//	    v                the point of no return
//	deleting ──────────> deleted
//	    │  ^   all parts seen to be absent, and so reported
//	    v  │
//	 blocked (a mark on deleting, not a state: it goes on by itself)
//
// And of its command:
//
//	flag set ──publish──> waiting ──fetch──> in hand ──report, then ack──> gone
//	   ^  │ (flag still set)  │                 │ │
//	   │  └── taken: flag removed               │ └─ later: waiting again after a delay
//	   │                      │                 └─── parked: reported with next_try, then acked
//	   │                      v
//	   └────── lost, stuck or parked: flagged again by the graph
//
// # Guarantees
//
//   - A message is published at least once for each flag. A flag is removed only after the bus has the message.
//   - A message is acknowledged only after its handler has returned nil, or after somebody durably knows that it waits.
//   - A readable message is never given up. An unreadable one is with the dead letters before it is removed.
//   - Handlers meet repeats, stale copies, any order, and two workers at the same time. They look at the present state.
//   - Memory is bounded: pages of flags, a bounded queue of those handed over, a bounded number of deliveries in hand.
//   - No fault makes a busy loop or a flood in the log.
//
// # Failures
//
//	what happens                                what is lost                  what then happens
//	-----------------------------------------   ---------------------------   ---------------------------------------------
//	process dies before it publishes            nothing                       the claim runs out, any relay publishes the flag
//	dies, or the answer is lost, after          nothing                       the flag is published again; the bus keeps one
//	publishing                                                                copy a subject, or the worker meets a repeat
//	flag removed too early (a planted mistake)  the command                   R2 hides it: not completed for resend_after, so
//	                                                                          flagged again. Tests run with R2 off, too
//	bus away                                    time                          flags stay; the relay tries again ever more slowly
//	bus loses a message, or its whole disk      commands, reports, the feed   R2 flags again (at once when the command stream had
//	                                                                          to be made anew); the feed comes from the graph
//	a message waits and is never handed out     time                          R2 sets a flag that replaces: purge, then publish
//	outbox (graph) away                         time                          claims fail, nothing is published; reports wait
//	worker dies with a message in hand          at most the ack wait          it comes again with the next attempt
//	worker is slow                              nothing                       it says "in progress" three times an ack wait
//	worker was frozen, wakes                    nothing                       its verdict is dropped (but for "done"); what it
//	                                                                          erases was listed before the graph agreed
//	handler fails                               time                          later: about 1 s, doubled up to 1 min; then parked
//	handler names an obstacle                   time                          parked: reported with next_try, flagged again then
//	the report that it is parked fails          nothing                       not acknowledged, comes again
//	handler panics                              nothing                       as if it had failed; the stack is in the log
//	acknowledgement lost                        nothing                       comes again; the handler meets its own traces
//	message cannot be read                      nothing                       dead letter with the reason, then removed
//	message is of a newer version               time                          given back for a process that can read it, for most
//	                                                                          of a day; then a dead letter
//	stop while messages are in hand             at most the grace             finished within the grace, else given back at once
//
// # What was measured, and decided by it
//
// Delayed messages count against what a broker hands out at the same time: a full limit of them let no healthy message
// through. So waits are short (a minute), few (Worker.MaxLater), and whatever rests longer rests in the graph.
//
// Deduplication by message id answers "duplicate" after a purge and keeps nothing. So no message has such an id: one message
// a subject is what makes a second copy harmless, without a window of time.
package saga
