package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	traceBytes     = 16 // of a trace id (W3C Trace Context §3.2.2.3)
	pseudonymBytes = 6
)

// TraceID names one write of an item in every log, from the command to its last effect: 32 hexadecimal digits. It is
// derived from values that both the command's answer and the stream's record have, so it is stored nowhere. It is
//
//	printf '%s#%s#%s' USER ITEM VERSION | sha256sum | cut -c 1-32
//
// A removal counts as a write of the version after the item's last.
func TraceID(user, itemID string, version int64) string {
	sum := sha256.Sum256([]byte(user + separator + itemID + separator + strconv.FormatInt(version, 10)))
	return hex.EncodeToString(sum[:traceBytes])
}

// Pseudonym names a user in a log. It lets an operator find one user's lines and does not reveal the id. It is empty
// for an empty user. It is
//
//	printf '%s' USER | sha256sum | cut -c 1-12
func Pseudonym(user string) string {
	if user == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:pseudonymBytes])
}

// WithoutUser replaces the user's id by the pseudonym in the text, where the id is a whole word. A log line with the
// pseudonym must not reveal the id.
func WithoutUser(text, user string) string {
	if user == "" || !strings.Contains(text, user) {
		return text
	}
	var out strings.Builder
	for at := 0; at < len(text); {
		next := strings.Index(text[at:], user)
		if next < 0 {
			out.WriteString(text[at:])
			break
		}
		start, end := at+next, at+next+len(user)
		out.WriteString(text[at:start])
		if start > 0 && isWordByte(text[start-1]) || end < len(text) && isWordByte(text[end]) {
			out.WriteByte(text[start]) // part of a longer word, in which the id may begin again
			at = start + 1
			continue
		}
		out.WriteString(Pseudonym(user))
		at = end
	}
	return out.String()
}
