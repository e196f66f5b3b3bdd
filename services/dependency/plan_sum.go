package dependency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"

	"github.com/tombstone-project/tombstone/events"
)

// planSum sums a plan up, in whatever order its things come, and never holds them.
type planSum struct {
	assets, links, objects tally
	bytes                  int64
}

// tally counts things and adds up their SHA-256 hashes, modulo 2^256: the order does not matter, and no two things cancel
// each other out.
type tally struct {
	count int64
	sum   [4]uint64
}

// add takes a thing in by its fields.
func (t *tally) add(fields ...string) {
	h := sha256.Sum256(fmt.Appendf(nil, "%q", fields))
	var carry uint64
	for i := range t.sum {
		t.sum[i], carry = bits.Add64(t.sum[i], binary.LittleEndian.Uint64(h[i*8:]), carry)
	}
	t.count++
}

// sum takes in what the graph tells of a closure.
func (c *closure) sum() planSum {
	var s planSum
	for _, id := range c.order {
		s.assets.add(id, c.generation(id))
	}
	for _, l := range c.hide {
		s.links.add(l.From, l.Type, l.To)
	}
	return s
}

// addObject takes in one version, marker or upload.
func (s *planSum) addObject(t events.Thing) {
	s.objects.add(t.Form, t.Bucket, t.Key, t.Version)
	s.bytes += t.Bytes
}

// planHash is what the hash of a plan says: how many things of each sort, and a digest of them, so that it can be told what
// differs between two plans of which only the hashes are known.
type planHash struct {
	assets, links, objects planPiece
	bytes                  int64
}

type planPiece struct {
	count  int64
	digest string
}

// digestSize is what is kept of a digest, in bytes.
const digestSize = 16

func (t tally) piece() planPiece {
	var sum []byte
	for _, word := range t.sum {
		sum = binary.LittleEndian.AppendUint64(sum, word)
	}
	h := sha256.Sum256(sum)
	return planPiece{t.count, hex.EncodeToString(h[:digestSize])}
}

func (s planSum) hash() planHash {
	return planHash{s.assets.piece(), s.links.piece(), s.objects.piece(), s.bytes}
}

const planFormat = "%d-%32s-%d-%32s-%d-%32s-%d"

// String is the hash as callers get it.
func (h planHash) String() string {
	return fmt.Sprintf(planFormat, h.assets.count, h.assets.digest, h.links.count, h.links.digest, h.objects.count, h.objects.digest, h.bytes)
}

// parsePlan reads a hash; false for what is none of ours.
func parsePlan(text string) (h planHash, ok bool) {
	_, err := fmt.Sscanf(text, planFormat, &h.assets.count, &h.assets.digest, &h.links.count, &h.links.digest, &h.objects.count, &h.objects.digest, &h.bytes)
	return h, err == nil && h.String() == text
}
