package dependency

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// newID makes a UUIDv7. It panics only when the system has no randomness.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// newGeneration makes a UUIDv7 that is greater than the one before, also when the clock went back: fences compare
// generations (the model's case "generations not rising" breaks without it).
func newGeneration(before string) string {
	id := uuid.Must(uuid.NewV7())
	old, err := uuid.Parse(before)
	if err != nil || id.String() > before {
		return id.String()
	}
	// One millisecond after the old one; the random bits are the new one's. The first 48 bits are milliseconds (RFC 9562).
	ms := binary.BigEndian.Uint64(old[:8])>>16 + 1
	binary.BigEndian.PutUint64(id[:8], ms<<16|uint64(binary.BigEndian.Uint16(id[6:8])))
	return id.String()
}

// idAt is the least UUIDv7 of a millisecond: the ids made since then are not less.
func idAt(t time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16|0x7000) // the version
	id[8] = 0x80                                                         // the variant
	return id.String()
}

// isUUID tells whether a path segment can be the id of a deletion.
func isUUID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}
