package entity

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// traceBytes is the length of a trace id (W3C Trace Context §3.2.2.3).
const traceBytes = 16

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
