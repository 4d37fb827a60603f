package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
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

// Pseudonym stands for a user in a log, where a user's own lines are to be found and ids are not to be learnt; empty for
// nobody. It is
//
//	printf '%s' USER | sha256sum | cut -c 1-12
func Pseudonym(user string) string {
	if user == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:pseudonymBytes])
}
