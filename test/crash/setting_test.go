package crash

import (
	"context"
	"strings"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/internal/fault"
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/saga/sagatest"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/memory"
)

// setting is on what a run is carried out.
type setting struct {
	stack
	times
	names events.Names
	// free: the processes run in real time, and a call comes when it comes; else one call at a time, in the bubble's time.
	free           bool
	meshes, others string // buckets
	// beside follows the id in the key of what is nobody's, and otherLife the key of what is hidden, once for each life before:
	// versitygw takes no key that is a folder, too, and what is written where a marker once was it lists as a marker.
	beside, otherLife string
}

// stack is the stores and the bus of a run, and the test's own ways to fill them and look into them.
type stack interface {
	documents() asset.Documents
	blobs() asset.Blobs
	ledger() asset.Ledger
	// connect is the bus as a process has it, as long as it lives.
	connect(p *fault.Process) bus

	putObject(bucket, key, content string)
	hide(bucket, key string) // puts a delete marker above it
	beginUpload(bucket, key string)
	stored() map[string]string                    // everything in the stores, by name
	messages(stream events.Stream) []saga.Message // that a stream holds, oldest first
	again(m saga.Message)                         // hands work out once more
}

// bus is the bus of one process.
type bus interface {
	saga.Publisher
	Commands() saga.Subscriber
	Reports() saga.Subscriber
}

// times of the system under test, and of who looks at it.
type times struct {
	lookEvery   time.Duration // R1
	hold        time.Duration // of claims by R1; 0: the default, as for the next two
	handOver    time.Duration // the longest of a relay
	claimFor    time.Duration // of the accepting replica
	resendAfter time.Duration // R2
	ackWait     time.Duration // of the bus
	batch       time.Duration // of deletions, open at the object store; 0: the default
	grace       time.Duration // of the kind slow

	patience  time.Duration // of a client for an answer
	askAgain  time.Duration // after none
	whole     time.Duration // in which whatever is late comes
	breath    time.Duration // in which whatever comes at once has begun
	limit     time.Duration // of a run: then something is lost
	limitNoR2 time.Duration
}

// inMemory is the setting of the runs in a bubble of time.
func inMemory() setting {
	const ackWait = 30 * time.Second
	probe := &memory.Probe{}
	m := memoryStack{memory.NewDocuments(probe), memory.NewBlobs(probe), memory.NewLedger(probe), sagatest.NewBus(sagatest.BusConfig{AckWait: ackWait})}
	s := setting{stack: m, meshes: "assets", others: "scans", times: times{lookEvery: 12 * time.Second, resendAfter: 2 * time.Minute,
		ackWait: ackWait, grace: 30 * time.Second, patience: 10 * time.Second, askAgain: time.Second, whole: time.Minute, breath: 2 * time.Second,
		limit: 2 * time.Hour, limitNoR2: 15 * time.Minute}}
	for _, bucket := range []string{s.meshes, s.others} {
		m.objects.CreateBucket(bucket, memory.Enabled)
	}
	return s
}

// memoryStack is everything in memory.
type memoryStack struct {
	docs    *memory.Documents
	objects *memory.Blobs
	records *memory.Ledger
	bus     *sagatest.Bus
}

func (m memoryStack) documents() asset.Documents { return m.docs }
func (m memoryStack) blobs() asset.Blobs         { return m.objects }
func (m memoryStack) ledger() asset.Ledger       { return m.records }

func (m memoryStack) connect(*fault.Process) bus     { return m.bus }
func (m memoryStack) hide(bucket, key string)        { m.objects.DeleteCurrent(bucket, key) }
func (m memoryStack) beginUpload(bucket, key string) { m.objects.BeginUpload(bucket, key) }
func (m memoryStack) again(msg saga.Message)         { m.bus.Again(msg.Subject) }

func (m memoryStack) messages(s events.Stream) []saga.Message { return m.bus.Messages(s.Name) }

func (m memoryStack) putObject(bucket, key, content string) {
	if err := m.objects.Put(context.Background(), bucket, key, strings.NewReader(content), int64(len(content))); err != nil {
		panic(err)
	}
}

func (m memoryStack) stored() map[string]string {
	all := m.docs.Snapshot()
	for name, content := range m.objects.Snapshot() {
		all[name] = content
	}
	return all
}
