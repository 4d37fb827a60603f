// Package blob is the port to a store of small whole objects by name: cold copies of archived items and parked
// records.
//
// It promises that an object is durable when Put returns, is never visible half-written, and is returned byte for
// byte. It offers no condition and no version: a caller that must know which object counts stores its name in the
// table. A name must never lead outside the configured store.
package blob

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/port"
)

// Bounds of every store.
const (
	// MaxName is the length of a name in bytes. S3 takes keys of 1,024; the rest is for the configured prefix.
	MaxName = 512
	// MaxSegment is the length of one segment of a name in bytes. File systems take 255, and a directory store needs two
	// for a capital letter.
	MaxSegment = 120
	// MaxBody is the size of an object in bytes; the largest here is a failed batch of a stream's records, 6 MB.
	MaxBody = 16 << 20
	// MaxList bounds the names that one List returns (S3, ListObjectsV2, MaxKeys).
	MaxList = 1000
)

// Store is the port. All methods are safe for concurrent use. An error leaves the outcome of a Put or Delete unknown,
// except [ErrInvalid], which changes nothing: repeat the call.
//
// A name is one or more segments of A-Z, a-z, 0-9, point, underscore, equals sign and hyphen, joined by slashes; no
// segment is "." or "..". Names differ by case, and one may begin with another and a slash.
type Store interface {
	// Put stores the body under the name and overwrites an existing object. Of concurrent writers one wins whole.
	Put(ctx context.Context, name string, body []byte) error
	// Get returns the body, or [ErrNotFound].
	Get(ctx context.Context, name string) ([]byte, error)
	// Delete removes the object; a missing one counts as removed.
	Delete(ctx context.Context, name string) error
	// List returns the first limit names that begin with the prefix and are greater than after, in the order of their
	// bytes. Both may be empty; both have the form of names, but may end anywhere. 1 <= limit <= [MaxList]. Fewer names
	// than limit mean that there are no more. It includes every object whose Put returned before it.
	List(ctx context.Context, prefix string, limit int, after string) ([]string, error)
}

// Purger is a store that can remove what an overwritten or deleted object leaves behind. Only the erasure of an account
// needs it.
type Purger interface {
	Store
	// Purge removes the object of that name with all its former versions or, if the name ends with a slash, all objects
	// below that folder. It returns how many objects, versions and marks of deletions it removed. An object that is put
	// during the call may stay. An error leaves the outcome unknown: repeat the call.
	Purge(ctx context.Context, name string) (removed int, err error)
}

// Errors on which callers decide. They are matched with errors.Is.
var (
	// ErrNotFound says that there is no such object.
	ErrNotFound = port.Error("object not found", port.ErrNotFound)
	// ErrThrottled says that the store refused for load; try again later.
	ErrThrottled = port.Error("object store throttled", port.ErrThrottled)
	// ErrUnavailable says that the store failed, did not answer, or does not serve this caller now; try again later.
	ErrUnavailable = port.Error("object store unavailable", port.ErrUnavailable)
	// ErrInvalid says that the request itself is refused; repeating it cannot help.
	ErrInvalid = port.Error("request refused by the object store", port.ErrInvalid)
)

// InvalidError names the argument that broke its rule. It matches [ErrInvalid].
type InvalidError struct {
	Argument string // name, body, prefix, limit or after
	Reason   string
}

func (e *InvalidError) Error() string { return e.Argument + " " + e.Reason }

// Unwrap makes the error match ErrInvalid and its kind.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// CheckName returns an [*InvalidError] if the name breaks its rule. Every adapter calls it before anything else.
func CheckName(name string) error {
	if name == "" {
		return &InvalidError{"name", "is empty"}
	}
	if reason := checkPath(name); reason != "" {
		return &InvalidError{"name", reason}
	}
	if strings.HasSuffix(name, "/") {
		return &InvalidError{"name", "ends with a slash"}
	}
	return nil
}

// CheckPurge returns an [*InvalidError] if the name of an object or folder breaks its rule.
func CheckPurge(name string) error { return CheckName(strings.TrimSuffix(name, "/")) }

// InPurge reports whether a purge of what is named removes the object.
func InPurge(purged, object string) bool {
	return object == purged || strings.HasSuffix(purged, "/") && strings.HasPrefix(object, purged)
}

// CheckBody returns an [*InvalidError] if the body is too large.
func CheckBody(body []byte) error {
	if len(body) > MaxBody {
		return &InvalidError{"body", fmt.Sprintf("has %d bytes, at most %d are allowed", len(body), MaxBody)}
	}
	return nil
}

// CheckList returns an [*InvalidError] if an argument of List breaks its rule.
func CheckList(prefix string, limit int, after string) error {
	for _, argument := range []struct{ name, value string }{{"prefix", prefix}, {"after", after}} {
		if argument.value == "" {
			continue
		}
		if reason := checkPath(argument.value); reason != "" {
			return &InvalidError{argument.name, reason}
		}
	}
	if limit < 1 || limit > MaxList {
		return &InvalidError{"limit", fmt.Sprintf("is %d, want 1 to %d", limit, MaxList)}
	}
	return nil
}

// checkPath returns the fault of a name's beginning: a whole one, or one cut off anywhere.
func checkPath(path string) string {
	if len(path) > MaxName {
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(path), MaxName)
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		switch {
		case segment == "" && (i == 0 || i < len(segments)-1):
			return fmt.Sprintf("%q has an empty segment", path)
		case segment == "." || segment == "..":
			return fmt.Sprintf("%q has a segment that stands for a folder", path)
		case len(segment) > MaxSegment:
			return fmt.Sprintf("has a segment of %d bytes, at most %d are allowed", len(segment), MaxSegment)
		}
		for j := range len(segment) {
			if !nameByte(segment[j]) {
				return fmt.Sprintf("%q has a character outside A-Za-z0-9._=-", path)
			}
		}
	}
	return ""
}

func nameByte(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return c == '.' || c == '_' || c == '=' || c == '-'
}
