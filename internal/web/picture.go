package web

import (
	"unicode/utf8"

	"github.com/tombstone-project/tombstone/internal/safetext"
	"github.com/tombstone-project/tombstone/services/dependency"
)

const (
	pictureShown = 8   // neighbours on each side; the tables have all
	boxWidth     = 190 // all in units of the view box
	boxHeight    = 34
	rowHeight    = 48
	gap          = 130 // between the columns, where the names of the links are
	lettersShown = 22  // of an id
)

// picture is an asset between what depends on it and what it needs.
type picture struct {
	Width, Height int
	Boxes         []box
	Arrows        []arrow
	Summary       string
}

// box is an asset; arrow is a link, from its source to its target.
type box struct {
	X, Y, Width, Height, TextX, TextY int
	ID, Label, Class, Fate            string
}

type arrow struct {
	X1, Y1, X2, Y2, TextX, TextY int
	Type                         string
}

// neighbour is an asset at the other end of one link.
type neighbour struct{ id, link, class string }

// fate is what the deletion of one asset means for others, as the class of their boxes.
type fate string

const (
	goes   fate = "going"   // along with it
	blocks fate = "blocker" // keeps it
)

func (f fate) words() string {
	return map[fate]string{goes: ", would go too", blocks: ", stands in the way"}[f]
}

// fatesIn reads a plan.
func fatesIn(p dependency.Plan) map[string]fate {
	fates := map[string]fate{}
	for _, a := range p.Assets {
		fates[a.ID] = goes
	}
	for _, b := range p.Blockers {
		fates[b.Asset] = blocks
	}
	return fates
}

// draw places the dependants left and the needs right, each in the order of its list, and marks those that have a fate.
func draw(a dependency.Asset, dependants dependency.Page[dependency.Dependant], fates map[string]fate) picture {
	var before, after []neighbour
	for _, d := range dependants.Items[:min(pictureShown, len(dependants.Items))] {
		before = append(before, neighbour{d.ID, d.Type, look(d.Status)})
	}
	for _, l := range a.Links[:min(pictureShown, len(a.Links))] {
		after = append(after, neighbour{l.To, l.Type, ""})
	}
	rows := max(1, len(before), len(after))
	p := picture{Width: 3*boxWidth + 2*gap + 4, Height: rows*rowHeight + 4}
	more := ""
	if dependants.NextCursor != "" {
		more = "more than "
	}
	p.Summary = "What depends on it: " + more + number(len(dependants.Items)) + ". What it needs: " + number(len(a.Links)) + "."
	center := p.box(1, 0, 1, neighbour{id: a.ID, class: "self " + look(a.Status)}, "", rows)
	for i, n := range before {
		p.arrow(p.box(0, i, len(before), n, fates[n.id], rows), center, n.link)
	}
	for i, n := range after {
		p.arrow(center, p.box(2, i, len(after), n, fates[n.id], rows), n.link)
	}
	return p
}

// box adds the i-th of n boxes of a column, which is centred among the rows.
func (p *picture) box(column, i, n int, of neighbour, f fate, rows int) box {
	class := of.class
	if f != "" {
		class = string(f)
	}
	b := box{X: 2 + column*(boxWidth+gap), Y: 2 + (rows-n)*rowHeight/2 + i*rowHeight + (rowHeight-boxHeight)/2, Width: boxWidth, Height: boxHeight,
		ID: of.id, Label: short(safetext.Escape(of.id)), Class: class, Fate: f.words()}
	b.TextX, b.TextY = b.X+boxWidth/2, b.Y+boxHeight/2+5
	p.Boxes = append(p.Boxes, b)
	return b
}

func (p *picture) arrow(from, to box, link string) {
	a := arrow{X1: from.X + from.Width, Y1: from.Y + from.Height/2, X2: to.X - 6, Y2: to.Y + to.Height/2, Type: link}
	a.TextX, a.TextY = (a.X1+a.X2)/2, (a.Y1+a.Y2)/2-5
	p.Arrows = append(p.Arrows, a)
}

// short cuts a label where it would not fit its box.
func short(label string) string {
	if utf8.RuneCountInString(label) <= lettersShown {
		return label
	}
	return string([]rune(label)[:lettersShown-1]) + "…"
}
