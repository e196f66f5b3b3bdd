package policy

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Resident tells whose a document or an object would be, read back from its key.
type Resident struct {
	Kind string
	Part string
	ID   string
	// Owner and Generation are empty where the place does not hold them.
	Owner      string
	Generation string
	// Place is the exact key, or the prefix, that the key belongs to.
	Place string
	// Whole: the key is the whole place, not something below a prefix.
	Whole bool
}

// Resident tells whose an object with this key would be; false when it is at no place of the policy from which the id can be
// read back. Places of two parts never meet, so there is at most one answer.
func (p *Policy) Resident(bucket, key string) (Resident, bool) {
	return p.residentAt(key, func(place *Part) bool { return place.Blobs != nil && place.Blobs.Bucket == bucket })
}

// DocumentResident is Resident for the key of a document.
func (p *Policy) DocumentResident(collection, key string) (Resident, bool) {
	return p.residentAt(key, func(place *Part) bool { return place.Document != nil && place.Document.Collection == collection })
}

func (p *Policy) residentAt(key string, there func(*Part) bool) (Resident, bool) {
	for _, place := range p.allPlaces() {
		if there(place.Part) {
			if r, ok := place.resident(key); ok {
				return r, true
			}
		}
	}
	return Resident{}, false
}

// Unreadable lists the places from whose keys no id can be read back, as "kind/part", sorted: nothing there can be told to
// be an orphan.
func (p *Policy) Unreadable() (names []string) {
	for _, place := range p.allPlaces() {
		if !place.template().readable() {
			names = append(names, place.kind+"/"+place.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// readable tells whether all that the template was made of can be read back: the id, and the owner and the generation where it
// has them. Attributes cannot be: who else knows them?
func (t *Template) readable() bool {
	if _, ok := t.pinned(idVariable); !ok || len(t.attributes()) > 0 {
		return false
	}
	for _, v := range []variable{ownerVariable, generationVariable} {
		if _, ok := t.pinned(v); t.uses(v) && !ok {
			return false
		}
	}
	return true
}

// resident reads a key back; false when it is not of this place.
func (p placed) resident(key string) (r Resident, ok bool) {
	t := p.template()
	if !t.readable() {
		return r, false
	}
	r = Resident{Kind: p.kind, Part: p.Name, Place: key, Whole: true}
	if p.raw() {
		r.ID = key
		return r, ValidateID(r.ID) == nil
	}
	segments, given := t.segments(), strings.Split(key, "/")
	if p.Blobs != nil && p.Blobs.Prefix != nil {
		segments = segments[:len(segments)-1] // what stands behind its last slash: nothing
		if len(given) <= len(segments) {
			return r, false
		}
		given = given[:len(segments)]
		r.Place, r.Whole = strings.Join(given, "/")+"/", false
	}
	if len(given) != len(segments) {
		return r, false
	}
	if r.ID, ok = t.readBack(idVariable, segments, given); !ok || ValidateID(r.ID) != nil {
		return r, false
	}
	r.Generation, _ = t.readBack(generationVariable, segments, given)
	r.Owner, _ = t.readBack(ownerVariable, segments, given)
	for i, segment := range segments {
		if !fits(segment, given[i], r) {
			return r, false
		}
	}
	return r, true
}

// readBack reads the value of a variable from the segment that it has to itself.
func (t *Template) readBack(v variable, segments [][]piece, given []string) (value string, ok bool) {
	i, ok := t.pinned(v)
	if !ok || i >= len(segments) {
		return "", false
	}
	found := form(segments[i], func(p piece) string {
		if p.variable == v {
			return "(.+)"
		}
		return ""
	}).FindStringSubmatch(given[i])
	if found == nil {
		return "", false
	}
	value, err := url.PathUnescape(found[1])
	return value, err == nil && encodeSegment(value) == found[1]
}

// fits tells whether a segment can have become this text, with the id and the generation that were read back.
func fits(segment []piece, given string, r Resident) bool {
	return form(segment, func(p piece) string {
		switch {
		case p.variable == idVariable:
			return regexp.QuoteMeta(encodeSegment(r.ID))
		case p.variable == hashVariable:
			return hashOf(r.ID, p.digits)
		case p.variable == generationVariable && r.Generation != "":
			return regexp.QuoteMeta(encodeSegment(r.Generation))
		}
		return ""
	}).MatchString(given)
}

// form is a segment as a regular expression. say gives that of a variable; where it is empty, any value fits.
func form(segment []piece, say func(piece) string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, p := range segment {
		switch said := say(p); {
		case p.variable == literal:
			b.WriteString(regexp.QuoteMeta(p.literal))
		case said != "":
			b.WriteString(said)
		case p.variable == hashVariable:
			b.WriteString(`[0-9a-f]{` + strconv.Itoa(p.digits) + `}`)
		default:
			b.WriteString(`.+`)
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// Shelf is where to look for everything that lies at places of the policy: a bucket below a prefix, or a collection.
type Shelf struct {
	Bucket     string
	Prefix     string // ends in "/", or is empty: the whole bucket
	Collection string
	IDField    string
	IDType     IDType
}

// Shelves lists the shelves of all places from whose keys an id can be read back, each once and none inside another, in order.
func (p *Policy) Shelves() []Shelf {
	var all []Shelf
	for _, place := range p.allPlaces() {
		switch t := place.template(); {
		case !t.readable():
		case place.Document != nil:
			all = append(all, Shelf{Collection: place.Document.Collection, IDField: place.Document.IDField, IDType: place.Document.IDType})
		default:
			all = append(all, Shelf{Bucket: place.Blobs.Bucket, Prefix: t.shelf()})
		}
	}
	slices.SortFunc(all, func(a, b Shelf) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Prefix, b.Prefix), cmp.Compare(a.Collection, b.Collection),
			cmp.Compare(a.IDField, b.IDField), cmp.Compare(a.IDType, b.IDType))
	})
	var out []Shelf
	for _, s := range all { // a wider prefix comes before those inside it
		inside := func(wider Shelf) bool {
			return wider == s || s.Bucket != "" && wider.Bucket == s.Bucket && strings.HasPrefix(s.Prefix, wider.Prefix)
		}
		if !slices.ContainsFunc(out, inside) {
			out = append(out, s)
		}
	}
	return out
}

// shelf is the literal beginning of the template, in whole segments.
func (t *Template) shelf() string {
	if len(t.pieces) == 0 || t.pieces[0].variable != literal {
		return ""
	}
	text := t.pieces[0].literal
	return text[:strings.LastIndexByte(text, '/')+1]
}
