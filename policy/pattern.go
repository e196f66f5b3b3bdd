package policy

// atom is one step of a pattern: one byte of a class, or any number of them.
type atom struct {
	class class
	byte  byte // of the class exactly
	many  bool
}

// class is a set of bytes.
type class int

const (
	exactly class = iota // one byte
	hexDigit
	noSlash
	anything
)

// accepts tells whether the byte is in the atom's class.
func (a atom) accepts(b byte) bool {
	switch a.class {
	case exactly:
		return b == a.byte
	case hexDigit:
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'f'
	case noSlash:
		return b != '/'
	default:
		return true
	}
}

// meets tells whether some byte is in the classes of both.
func (a atom) meets(other atom) bool {
	switch {
	case a.class == exactly:
		return other.accepts(a.byte)
	case other.class == exactly:
		return a.accepts(other.byte)
	default:
		return true // hex digits are in all of the wider classes
	}
}

// step is how far a match of one byte moves on.
func (a atom) step() int {
	if a.many {
		return 0
	}
	return 1
}

// pattern describes every text that a template can become, and some more: a value is any text of at least one byte and
// without a slash, that of a |path attribute (and any value that stays raw) any text of at least one byte.
func (t *Template) pattern(raw bool) []atom {
	var out []atom
	for _, p := range t.pieces {
		switch {
		case p.variable == literal:
			for _, b := range []byte(p.literal) {
				out = append(out, atom{class: exactly, byte: b})
			}
		case p.variable == hashVariable:
			for range p.digits {
				out = append(out, atom{class: hexDigit})
			}
		case p.path || raw:
			out = append(out, atom{class: anything}, atom{class: anything, many: true})
		default:
			out = append(out, atom{class: noSlash}, atom{class: noSlash, many: true})
		}
	}
	return out
}

// below is the pattern of every key that begins with what the pattern describes.
func below(prefix []atom) []atom {
	return append(prefix, atom{class: anything, many: true})
}

// overlap tells whether some text fits both patterns.
func overlap(a, b []atom) bool {
	for i := range min(len(a), len(b)) {
		if a[i].many || b[i].many {
			break
		}
		if !a[i].meets(b[i]) {
			return false
		}
	}
	return walk(a, b)
}

// walk goes through the pairs of positions in both patterns that a common beginning can reach.
func walk(a, b []atom) bool {
	type pair struct{ i, j int }
	seen := map[pair]bool{}
	todo := []pair{{0, 0}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if at.i == len(a) && at.j == len(b) {
			return true
		}
		if at.i < len(a) && a[at.i].many {
			todo = append(todo, pair{at.i + 1, at.j})
		}
		if at.j < len(b) && b[at.j].many {
			todo = append(todo, pair{at.i, at.j + 1})
		}
		if at.i < len(a) && at.j < len(b) && a[at.i].meets(b[at.j]) {
			todo = append(todo, pair{at.i + a[at.i].step(), at.j + b[at.j].step()})
		}
	}
	return false
}
