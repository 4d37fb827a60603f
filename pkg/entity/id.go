package entity

import (
	"errors"
	"fmt"
	"strings"
)

// maxUserIDLength and maxSuffixLength bound what a client can put into a key (docs/data-model.md, "Entities").
const (
	maxUserIDLength = 64
	maxSuffixLength = 50
)

// ErrID is wrapped by the errors of [CheckID] and [CheckUserID]: the text is no identifier.
var ErrID = errors.New("malformed identifier")

// CheckUserID accepts 1 to 64 of A-Z a-z 0-9 _ -. It refuses #, with which a user id would name another user's year
// partition.
func CheckUserID(id string) error {
	if !isWord(id, maxUserIDLength) {
		return fmt.Errorf("%w: a user id is 1 to %d of A-Z a-z 0-9 _ -", ErrID, maxUserIDLength)
	}
	return nil
}

// CheckID accepts <prefix>_<suffix> with a suffix of 1 to 50 of A-Z a-z 0-9 _ -.
func CheckID(prefix, id string) error {
	if prefix == InstanceIDPrefix {
		return checkInstanceID(id)
	}
	suffix, ok := strings.CutPrefix(id, prefix+"_")
	if !ok || !isWord(suffix, maxSuffixLength) {
		return fmt.Errorf("%w: want %s_ and 1 to %d of A-Z a-z 0-9 _ -", ErrID, prefix, maxSuffixLength)
	}
	return nil
}

// CheckClientID accepts an id that a client may choose. Its suffix must be a UUID (RFC 9562 §4, lower case), so that
// no client can guess another's.
func CheckClientID(prefix, id string) error {
	suffix, ok := strings.CutPrefix(id, prefix+"_")
	if !ok || !isUUID(suffix) {
		return fmt.Errorf("%w: want %s_ and a lower-case UUID", ErrID, prefix)
	}
	return nil
}

func isWord(s string, longest int) bool {
	if s == "" || len(s) > longest {
		return false
	}
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return true
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
				return false
			}
		}
	}
	return true
}
