package crash

// The texts of docs/crash-matrix.md.
const head = `# Crash matrix

What a fault at any call of any port does to a deletion. Written by ` + "`go test ./test/crash -update`" + `, and compared by every
` + "`go test ./test/crash`" + `; do not edit it by hand.

A run is the whole system in one process on a clock of its own: both services with their relays and workers, the graph on
SQLite, documents, objects, ledger and bus in memory. One call runs at a time, always in the same order. Each call that the
run without a fault made gets each fault, in a run of its own. What crashes is started again; what is frozen gets a second
replica beside it, and is woken when all is done. Then every message is delivered once more. All guarantees (G1 to G9 of
[architecture.md](architecture.md)) are checked over all stores: G2 after every delete, G3 at the moment at which the graph says
` + "`deleted`" + `, the others at the end, with the evidence compared to what was there.

What is carried out where:

| runs | stores | ` + "`go test ./test/crash`" + `, as in CI | with ` + "`-short`" + ` | with ` + "`TOMBSTONE_CRASH=full`" + ` |
| --- | --- | --- | --- | --- |
| one fault | in memory | all | every 64th | all |
| one fault, R2 off | in memory | all of two scenarios | every 64th | all |
| two faults | in memory | every 47th | every 500th | all |
| one fault, other orders of calls | in memory | every 128th | every 512th | all |
| one fault, R2 off | embedded | one for each cell of the two tables below | none | all |

The embedded stores are those of ` + "`tombstone dev`" + `: JetStream, FerretDB, versitygw and SQLite, with the product's own adapters. There
processes run in real time, side by side, and a fault strikes the n-th call of its kind; each run has names of its own, and R2 is off
but for lost messages. ` + "`TOMBSTONE_SEED`" + ` draws the calls, and is printed. What such a run breaks must be what its cell says; by what it
went on is not compared, as that depends on what comes first. An asset with more objects than a page is for the full exploration.

| fault | what happens |
| --- | --- |
| crash before, half way, after | the process ends before the effect, after it for half of the items of the call, or after all of it |
| error before, half way, after | the caller gets an error at these moments and cannot know; inside a transaction: the call fails, and the transaction with it |
| twice | the request is carried out twice; a transaction runs twice, of which the first is rolled back; a message is handed out twice; what was acknowledged comes again |
| lost | the broker acknowledges a message and loses it |
| frozen | the process stops as after SIGSTOP, until all is done; then the request that was on its way comes |

A call that only reads is the same before and after, so it has one crash and one error.

In the tables: the number of runs, then by what they went on, besides restarts: **asked**: the client got no answer and asked
again; **R1**: a relay found a flag, or an entry of the trail, that was not sent; **redelivery**: the message came again; **R2**: the command was flagged
again because nothing was heard. Only lost messages may need R2; anything else that did would fail the test.

`

const lostText = `## Lost messages

A broker that loses what it has acknowledged, alone, without losing the stream (` + "`sync_interval: always`" + ` prevents that), is what R2 is for:
above, each lost command or report is replaced by R2. An event that is lost so is not noticed: the trail in the graph has it, the feed does
not, until the stream itself is made anew. The same faults with R2 switched off:

`

const pairsText = `
## Two faults

All pairs of faults of "one asset", with R2 and without: the second at any call that follows the first in the run with the first. Left out
is what leads to the same state as another pair. ` + "`go test ./test/crash`" + ` carries out a part of them, with ` + "`TOMBSTONE_CRASH=full`" + ` all, as well as all
scenarios without R2 and in other orders of calls (about half an hour on two cores). The guarantees that break are those of the lost messages above.

`

const mistakesText = `
## Planted mistakes

That the exploration can fail: each of these is planted in a test, and must break the guarantee in some run. Three of them
are planted on the embedded stores, too (all with ` + "`TOMBSTONE_CRASH=full`" + `).

| mistake | scenario | breaks | with R2 |
| --- | --- | --- | --- |
`
