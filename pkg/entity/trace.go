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

// TraceID names one write of an item wherever it is logged, from the command to its last effect: 32 hexadecimal digits,
// derived from what the command's answer and the stream's record both know, so that it is stored nowhere. It is
//
//	printf '%s#%s#%s' USER ITEM VERSION | sha256sum | cut -c 1-32
//
// A removal is a write of the version behind the item's last.
func TraceID(user, itemID string, version int64) string {
	sum := sha256.Sum256([]byte(user + separator + itemID + separator + strconv.FormatInt(version, 10)))
	return hex.EncodeToString(sum[:traceBytes])
}

// Pseudonym stands for a user in a log, where a user's own lines are to be found and ids are not to be learnt; empty
// for nobody. It is
//
//	printf '%s' USER | sha256sum | cut -c 1-12
func Pseudonym(user string) string {
	if user == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:pseudonymBytes])
}

// WithoutUser returns the text with the user's pseudonym wherever the user's id stands as a word. A log line that has
// the pseudonym must not tell whose it is.
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
			out.WriteByte(text[start]) // part of a longer word, in which the id may begin once more
			at = start + 1
			continue
		}
		out.WriteString(Pseudonym(user))
		at = end
	}
	return out.String()
}
