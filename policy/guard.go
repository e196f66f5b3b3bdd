package policy

import (
	"encoding/json"
	"maps"
	"slices"
)

// recordedPlace is how one place is written down: everything that decides where things are, and nothing else.
type recordedPlace struct {
	Collection string `json:"collection,omitempty"`
	IDField    string `json:"id,omitempty"`
	IDType     IDType `json:"id_type,omitempty"`
	Bucket     string `json:"bucket,omitempty"`
	Prefix     string `json:"prefix,omitempty"`
	Key        string `json:"key,omitempty"`
}

// Places gives the places of every part in a form to be kept: "kind/part" → JSON array, the present place first, then
// the former ones. It is what GuardPlaces of a later policy compares with. Those of the canary are not among them: they move
// with its bucket.
func (p *Policy) Places() map[string]string {
	out := map[string]string{}
	for name, kind := range p.Kinds {
		if kind.Internal {
			continue
		}
		for _, part := range kind.Parts {
			text, err := json.Marshal(part.recorded())
			if err != nil {
				panic("policy: strings do not marshal: " + err.Error())
			}
			out[name+"/"+part.Name] = string(text)
		}
	}
	return out
}

// recorded gives the places of the part, the present one first.
func (p *Part) recorded() []recordedPlace {
	var out []recordedPlace
	for _, place := range p.places() {
		out = append(out, place.record())
	}
	return out
}

func (p *Part) record() recordedPlace {
	if d := p.Document; d != nil {
		return recordedPlace{Collection: d.Collection, IDField: d.IDField, IDType: d.IDType, Key: d.Key.String()}
	}
	r := recordedPlace{Bucket: p.Blobs.Bucket}
	if p.Blobs.Prefix != nil {
		r.Prefix = p.Blobs.Prefix.String()
	} else {
		r.Key = p.Blobs.Key.String()
	}
	return r
}

// GuardPlaces compares with what an earlier policy's Places gave and lists the parts ("kind/part", sorted) that this
// policy would lose sight of: a place of them, present or former then, is neither the present one now nor under
// `former`; or the part or its kind is gone. Assets of these kinds that are not deleted must not exist.
//
// It also lists the parts that are made of attributes now and were not, or of other attributes: assets from before hold
// no claim on such a place, so two of them could share it.
func (p *Policy) GuardPlaces(recorded map[string]string) (changed []string) {
	if len(recorded) == 0 {
		return nil
	}
	now := map[string]*Part{}
	for name, kind := range p.Kinds {
		for _, part := range kind.Parts {
			now[name+"/"+part.Name] = part
		}
	}
	lost := map[string]bool{}
	for name, text := range recorded {
		if part, ok := now[name]; !ok || !part.covers(text) {
			lost[name] = true
		}
	}
	for name, part := range now {
		if _, ok := recorded[name]; !ok && part.Exclusive() {
			lost[name] = true
		}
	}
	return slices.Sorted(maps.Keys(lost))
}

// covers tells whether every place of the record is still one of the part's. A record that cannot be read is not covered.
func (p *Part) covers(record string) bool {
	var then []recordedPlace
	if err := json.Unmarshal([]byte(record), &then); err != nil || len(then) == 0 {
		return false
	}
	now := p.recorded()
	for _, place := range then {
		if !slices.Contains(now, place) {
			return false
		}
	}
	return p.claimsCarryOver(then)
}

// claimsCarryOver tells whether assets of the recorded places hold claims that keep this part's places apart as well.
// They do where the same template stood in one of those places that is still here: two assets with equal values would
// have had to claim that one together, then or now.
func (p *Part) claimsCarryOver(then []recordedPlace) bool {
	claimed := map[string]bool{}
	for _, place := range p.places() {
		if place.exclusive() && slices.Contains(then, place.record()) {
			claimed[place.template().String()] = true
		}
	}
	for _, place := range p.places() {
		if place.exclusive() && !claimed[place.template().String()] {
			return false
		}
	}
	return true
}
