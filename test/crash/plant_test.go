package crash

import (
	"github.com/tombstone-project/tombstone/saga"
	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/dependency"
)

// plant is a mistake that is planted at the seams between the services and their ports, to see that it is found. The zero
// value is none.
type plant struct {
	name         string
	ofGraph      func(dependency.Graph) dependency.Graph
	ofPublisher  func(p *process, inner saga.Publisher) saga.Publisher
	ofSubscriber func(name string, inner saga.Subscriber) saga.Subscriber
	ofDocuments  func(asset.Documents) asset.Documents
	ofBlobs      func(asset.Blobs) asset.Blobs
	ofLedger     func(asset.Ledger) asset.Ledger
	ofGate       func(asset.Gate) asset.Gate
}

func (x plant) publisher(p *process, inner saga.Publisher) saga.Publisher {
	if x.ofPublisher == nil {
		return inner
	}
	return x.ofPublisher(p, inner)
}

func (x plant) subscriber(name string, inner saga.Subscriber) saga.Subscriber {
	if x.ofSubscriber == nil {
		return inner
	}
	return x.ofSubscriber(name, inner)
}

func (x plant) graph(inner dependency.Graph) dependency.Graph   { return planted(x.ofGraph, inner) }
func (x plant) documents(inner asset.Documents) asset.Documents { return planted(x.ofDocuments, inner) }
func (x plant) blobs(inner asset.Blobs) asset.Blobs             { return planted(x.ofBlobs, inner) }
func (x plant) ledger(inner asset.Ledger) asset.Ledger          { return planted(x.ofLedger, inner) }
func (x plant) gate(inner asset.Gate) asset.Gate                { return planted(x.ofGate, inner) }

func planted[P any](with func(P) P, inner P) P {
	if with == nil {
		return inner
	}
	return with(inner)
}
