package events

import (
	"errors"
	"regexp"
)

// ErrNewer is what decoding a command or report of a later version wraps: a type that this program does not know and that
// is named like ours. While versions run side by side it is left for a process that can read it.
var ErrNewer = errors.New("message of a newer version")

// typeShape is how our types are named, now and later.
var typeShape = regexp.MustCompile(`^tombstone(\.[a-z]+)+\.v[1-9][0-9]{0,3}$`)

// newer tells that a type is not ours yet.
func newer(eventType string) bool {
	switch eventType {
	case TypeErase, TypeDeletionRequested, TypeDeletionCancelled, TypeDeletionCompleted, TypeDeletionStalled, TypeDeletionBlocked,
		TypePartErased, TypePartProgress, TypeAssetErased:
		return false
	}
	return typeShape.MatchString(eventType)
}
