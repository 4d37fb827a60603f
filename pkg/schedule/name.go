package schedule

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// ownerLength is the number of characters of a name that stand for its user.
const ownerLength = 11

// OwnedName returns the name of a schedule of a user: the prefix, 11 characters of the user's digest, by which an
// erasure finds it, and a digest of the user and the parts. It has 55 characters and those of the prefix.
func OwnedName(prefix, user string, parts ...string) string {
	return prefix + Digest(user)[:ownerLength] + "-" + Digest(append([]string{user}, parts...)...)
}

// Digest returns the digest of parts, in characters that a name may have.
func Digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "#")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
