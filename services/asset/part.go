package asset

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/tombstone-project/tombstone/events"
	"github.com/tombstone-project/tombstone/policy"
)

// part is one part of an asset in hand.
type part struct {
	name       string
	generation string
	documents  []DocumentRef
	places     []Place
	fences     []bool // which of the places hold the generation
	fenced     bool   // all of them do
	bypass     []bool // of which of the places governance-mode retention keeps nothing
	recheck    bool   // it was erased already, and is looked at again

	seen     page            // what the last look found
	before   page            // what the look before it found
	lookedAt time.Time       // when the last look began
	listedAt time.Time       // when the object store answered it, by its own clock where it has one
	othersAt time.Time       // when another worker, by that clock, was last known to be about to delete; zero: never
	counted  Inventory       // what was there so far, for the evidence
	pages    int             // inventories in the ledger
	refused  map[thing]error // what the last deleting could not delete, and why
	stuck    int             // looks in a row that found everything as it was
	whole    int             // looks that found something again where everything had been deleted

	evidence *events.PartEvidence // set when it is seen to be absent
	err      error                // why it cannot go on now
}

// active parts are still to be erased; finished ones are seen to be absent; the others have an error.
func (p *part) active() bool   { return p.evidence == nil && p.err == nil }
func (p *part) finished() bool { return p.evidence != nil }
func (p *part) failed() bool   { return p.evidence == nil && p.err != nil }

// object is a version with its bucket.
type object struct {
	bucket string
	Version
}

// thing tells what a look found from everything else.
type thing struct {
	bucket string // a bucket, or a collection
	key    string
	id     string // of the version or upload; the generation of a document
	form   form
}

type form byte

const (
	formDocument form = iota
	formVersion
	formUpload
)

func (o object) thing() thing {
	if o.Upload {
		return thing{o.bucket, o.Key, o.ID, formUpload}
	}
	return thing{o.bucket, o.Key, o.ID, formVersion}
}

func (d DocumentRef) thing() thing { return thing{d.Collection, d.Key, d.Generation, formDocument} }

// page is what one look found at all places of a part: up to pageSize objects.
type page struct {
	documents []DocumentRef
	objects   []object
	more      bool
}

func (p page) empty() bool { return len(p.documents)+len(p.objects) == 0 }

// things is the page as a set.
func (p page) things() map[thing]bool {
	set := make(map[thing]bool, len(p.documents)+len(p.objects))
	for _, d := range p.documents {
		set[d.thing()] = true
	}
	for _, o := range p.objects {
		set[o.thing()] = true
	}
	return set
}

// newPart works out where the part of one asset is, former places included.
func newPart(p *policy.Part, s policy.Subject) (*part, error) {
	locations, err := p.Locations(s)
	if err != nil {
		return nil, &Blocked{Reason: ReasonLocationInvalid, Detail: err.Error()}
	}
	out := &part{name: p.Name, generation: s.Generation, fenced: true}
	for _, l := range locations {
		if l.IsDocument() {
			out.documents = append(out.documents, documentRef(l, s.Generation))
			continue
		}
		place := Place{Bucket: l.Bucket, Prefix: l.Prefix, Key: l.Key}
		if err := place.Check(); err != nil {
			return nil, &Blocked{Reason: ReasonLocationInvalid, Detail: fmt.Sprintf("%+v: %v", place, err)}
		}
		out.places, out.fences = append(out.places, place), append(out.fences, l.Fenced)
		out.bypass = append(out.bypass, l.GovernanceBypass)
		out.fenced = out.fenced && l.Fenced
	}
	return out, nil
}

// ambiguous tells whether the key may be written down in several types: a number or an object id is text, too.
func (d DocumentRef) ambiguous() bool {
	if d.Fenced {
		return false // the generation in it is neither
	}
	_, number := strconv.ParseInt(d.Key, 10, 64)
	_, object := hex.DecodeString(d.Key)
	return number == nil || object == nil && len(d.Key) == 24
}

// documentRef is the document of a part's generation at its location.
func documentRef(l policy.Location, generation string) DocumentRef {
	return DocumentRef{
		Collection: l.Collection, Key: l.DocumentKey, IDField: l.IDField, IDType: l.IDType,
		Generation: generation, Fenced: l.Fenced,
	}
}
