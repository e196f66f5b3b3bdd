package events

import (
	"strings"
	"unicode/utf8"
)

// maxText is the longest free text in a message, in bytes. A message must stay far below what a broker takes (1 MiB by
// default), whatever a user gave as a reason or a store as an error; the graph keeps the whole text.
const maxText = 4096

// cutMark ends a text that Clip has cut.
const cutMark = "… (cut)"

// Clip makes free text fit for a message: valid UTF-8, at most 4,096 bytes, and marked where it was cut.
func Clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	end := maxText - len(cutMark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}

// payload is one of the data types.
type payload interface {
	// clipped is the same with its free texts clipped.
	clipped() payload
	// ids are the members that name things; they are never changed to fit.
	ids() []string
}

// Report is the data of a message of the reports stream: *PartErased, *AssetErased or *PartProgress.
type Report interface{ report() }

func (PartErased) report()   {}
func (AssetErased) report()  {}
func (PartProgress) report() {}

func (d Erase) clipped() payload {
	d.Reason = Clip(d.Reason)
	return d
}

func (d PartErased) clipped() payload  { return d }
func (d AssetErased) clipped() payload { return d }

func (d PartProgress) clipped() payload {
	d.Reason, d.LastError = Clip(d.Reason), Clip(d.LastError)
	return d
}

func (d AuditEvent) clipped() payload {
	d.Reason, d.Detail = Clip(d.Reason), Clip(d.Detail)
	return d
}

func (d Erase) ids() []string {
	ids := []string{d.Deletion, d.Asset, d.Kind, d.Owner, d.Generation, d.By}
	for part, generation := range d.Parts {
		ids = append(ids, part, generation)
	}
	return ids
}

func (d PartErased) ids() []string {
	return append(d.PartEvidence.ids(), d.Deletion, d.Asset, d.Generation)
}

func (d AssetErased) ids() []string {
	ids := []string{d.Deletion, d.Asset, d.Generation}
	for _, e := range d.Parts {
		ids = append(ids, e.ids()...)
	}
	return ids
}

func (d PartProgress) ids() []string { return []string{d.Deletion, d.Asset, d.Generation, d.Part} }

func (d AuditEvent) ids() []string {
	ids := []string{d.Deletion, d.Asset, d.Generation, d.By, d.Part}
	if d.Evidence != nil {
		ids = append(ids, d.Evidence.ids()...)
	}
	return ids
}

func (e PartEvidence) ids() []string { return []string{e.Part, e.Generation} }

// The functions below read each type from its object; faults stay in the object.

func readErase(o *object) Erase {
	return Erase{
		Deletion:   o.id("deletion"),
		Asset:      o.id("asset"),
		Kind:       o.id("kind"),
		Owner:      o.id("owner"),
		Generation: o.id("generation"),
		Parts:      o.names("parts"),
		Recheck:    int(o.count("recheck")),
		Tried:      int(o.count("tried")),
		By:         o.optionalID("by"),
		Reason:     o.text("reason"),
	}
}

func readReport(eventType string, o *object) Report {
	switch eventType {
	case TypePartErased:
		return readPartErased(o)
	case TypeAssetErased:
		return readAssetErased(o)
	case TypePartProgress:
		return readPartProgress(o)
	}
	o.fail("type %q is not one of a report", eventType)
	return nil
}

func readPartErased(o *object) *PartErased {
	return &PartErased{
		Deletion:     o.id("deletion"),
		Asset:        o.id("asset"),
		Generation:   o.id("generation"),
		PartEvidence: readNested(o, "evidence"),
	}
}

// readNested reads evidence that is a member of o.
func readNested(o *object, name string) PartEvidence {
	nested := newObject(o.members[name], name)
	e := readEvidence(nested)
	if nested.err != nil {
		o.fail("%w", nested.err)
	}
	return e
}

func readAssetErased(o *object) *AssetErased {
	d := &AssetErased{
		Deletion:   o.id("deletion"),
		Asset:      o.id("asset"),
		Generation: o.id("generation"),
		Parts:      []PartEvidence{},
		Recheck:    int(o.count("recheck")),
	}
	for _, part := range o.list("parts") {
		d.Parts = append(d.Parts, readEvidence(part))
		if part.err != nil {
			o.fail("parts: %w", part.err)
		}
	}
	return d
}

func readEvidence(o *object) PartEvidence {
	e := PartEvidence{
		Part:       o.id("part"),
		Generation: o.id("generation"),
		Documents:  o.count("documents"),
		Objects:    o.count("objects"),
		Bytes:      o.count("bytes"),
		Attempts:   int(o.count("attempts")),
	}
	if seen := o.instant("seen_absent_at"); seen != nil {
		e.SeenAbsentAt = *seen
	} else {
		o.fail("seen_absent_at is missing")
	}
	return e
}

func readPartProgress(o *object) *PartProgress {
	d := &PartProgress{
		Deletion:   o.id("deletion"),
		Asset:      o.id("asset"),
		Generation: o.id("generation"),
		Part:       o.optionalID("part"),
		Status:     o.id("status"),
		Reason:     o.text("reason"),
		Until:      o.instant("until"),
		Attempts:   int(o.count("attempts")),
		LastError:  o.text("last_error"),
		NextTry:    o.instant("next_try"),
		Recheck:    int(o.count("recheck")),
	}
	if d.Status != ProgressErasing && d.Status != ProgressBlocked && d.Status != ProgressRetry {
		o.fail("status %q is not known", d.Status)
	}
	return d
}

func readAuditEvent(o *object) AuditEvent {
	d := AuditEvent{
		Sequence:   o.count("sequence"),
		Deletion:   o.id("deletion"),
		Asset:      o.id("asset"),
		Generation: o.id("generation"),
		By:         o.optionalID("by"),
		Reason:     o.text("reason"),
		Part:       o.optionalID("part"),
		Detail:     o.text("detail"),
	}
	if d.Sequence == 0 {
		o.fail("sequence is missing")
	}
	if o.has("evidence") {
		e := readNested(o, "evidence")
		d.Evidence = &e
	}
	return d
}
