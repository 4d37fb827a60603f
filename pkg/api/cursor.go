package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
)

// A cursor that is made here is a mark of its list, which includes the user, and a place. The partition is always the
// caller's own, and a cursor of another list, or of another user's, is refused.
const markBytes = 12

func markOf(list string) []byte {
	sum := sha256.Sum256([]byte(list))
	return sum[:markBytes]
}

func markedCursor(list, place string) string {
	return base64.RawURLEncoding.EncodeToString(append(markOf(list), place...))
}

func readMarkedCursor(list, text string) (place string, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= markBytes || !bytes.Equal(raw[:markBytes], markOf(list)) {
		return "", false
	}
	return string(raw[markBytes:]), true
}
