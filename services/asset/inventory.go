package asset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

func (r *erasure) ledgerKey(p *part) LedgerKey {
	deletion := r.command.Deletion
	if n := r.command.Recheck; n > 0 { // each look has records of its own
		deletion = fmt.Sprintf("%s/recheck/%d", deletion, n)
	}
	return LedgerKey{Deletion: deletion, Asset: r.command.Asset, Part: p.name}
}

// open writes the head of a part's erasure with what the first look found, before anything of it is deleted. A part that
// is done already only contributes its evidence; one that was interrupted goes on counting where it was.
func (r *erasure) open(ctx context.Context, p *part) {
	head := Head{Key: r.ledgerKey(p), Generation: p.generation, Inventory: p.inventory(nil), At: p.lookedAt}
	entry, err := r.stores.open(ctx, head)
	switch {
	case err != nil:
		p.err = fmt.Errorf("open the ledger: %w", err)
	case entry.Done:
		p.evidence = &entry.Evidence
	case entry.Fresh:
		p.pages, p.counted = 1, head.Inventory
	default:
		p.pages = entry.Pages
		r.resume(ctx, p)
	}
}

// resume takes up the counting of an interrupted erasure.
func (r *erasure) resume(ctx context.Context, p *part) {
	totals, err := r.stores.totals(ctx, r.ledgerKey(p))
	if err != nil {
		p.err = fmt.Errorf("read the ledger: %w", err)
		return
	}
	p.counted = totals
	if totals.Objects > 0 && !r.runs.took(r.ledgerKey(p), ownRun{r.attempt - 1, p.pages}) {
		p.othersAt = totals.At
	}
	r.extend(ctx, p, p.countedBefore(totals))
}

// countedBefore tells which of the things just seen an interrupted erasure has counted. The last inventory saw everything
// that may be left of what was counted; where it kept no versions, one page held everything, and what is left of it is
// taken to come first.
func (p *part) countedBefore(totals Inventory) map[thing]bool {
	known := map[thing]bool{}
	for _, d := range p.seen.documents[:min(int64(len(p.seen.documents)), totals.Documents)] {
		known[d.thing()] = true
	}
	if len(totals.Versions) == 0 && p.fenced && p.pages == 1 {
		for _, o := range p.seen.objects[:min(int64(len(p.seen.objects)), totals.Objects)] {
			known[o.thing()] = true
		}
	}
	for _, v := range totals.Versions {
		for _, place := range p.places {
			known[object{place.Bucket, v}.thing()] = true
		}
	}
	return known
}

// extend writes what the last look found besides the known things into the ledger, before any of it is deleted.
func (r *erasure) extend(ctx context.Context, p *part, known map[thing]bool) {
	inventory := p.inventory(known)
	if inventory.Documents+inventory.Objects == 0 {
		return
	}
	r.write(ctx, p, inventory)
	p.counted.Documents += inventory.Documents
	p.counted.Objects += inventory.Objects
	p.counted.Bytes += inventory.Bytes
}

// write adds a page to the ledger. One that stands already is another worker's.
func (r *erasure) write(ctx context.Context, p *part, inventory Inventory) {
	fresh, err := r.stores.page(ctx, r.ledgerKey(p), p.pages+1, inventory)
	if err != nil {
		p.err = fmt.Errorf("extend the ledger: %w", err)
		return
	}
	p.pages++
	if !fresh {
		p.othersAt = p.listedAt
	}
}

// inventory is what the last look found, counting what is not known yet.
func (p *part) inventory(known map[thing]bool) Inventory {
	var out Inventory
	for _, d := range p.seen.documents {
		if !known[d.thing()] {
			out.Documents++
		}
	}
	for _, o := range p.seen.objects {
		if !known[o.thing()] {
			out.Objects++
			out.Bytes += o.Bytes
		}
	}
	if !p.fenced || p.seen.more || p.pages > 0 {
		for _, o := range p.seen.objects {
			o.GovernanceBypass = false // the policy's, not the version's
			out.Versions = append(out.Versions, o.Version)
		}
	}
	out.Hash, out.At = p.seen.hash(), p.listedAt
	return out
}

// hash is the hex SHA-256 over the sorted entries of the page, each with the lengths of its texts before it, so that no two
// pages give the same bytes.
func (p page) hash() string {
	var lines []string
	for t := range p.things() {
		lines = append(lines, fmt.Sprintf("%d %d %s %d %s %d %s\n", t.form, len(t.bucket), t.bucket, len(t.key), t.key, len(t.id), t.id))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}
