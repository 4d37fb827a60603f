package ical

import (
	"cmp"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// revision orders the components of one thing: the greater SEQUENCE is later, then the greater DTSTAMP, then the
// greater LAST-MODIFIED (RFC 5546 §2.1.5).
type revision struct {
	sequence          int64
	stamped, modified time.Time
}

func readRevision(c *Component) (sequence int64, r revision) {
	sequence, err := strconv.ParseInt(c.Value("SEQUENCE"), 10, 32)
	if err != nil || sequence < 0 {
		sequence = 0 // RFC 5545 §3.8.7.4: an absent one is 0
	}
	return sequence, revision{sequence, instantOf(c, "DTSTAMP"), instantOf(c, "LAST-MODIFIED")}
}

// instantOf reads a time that the standard has in UTC; zero if there is none.
func instantOf(c *Component, name string) time.Time {
	m, err := parseMoment(c.Value(name), "", nil)
	if err != nil {
		return time.Time{}
	}
	return m.Reading
}

func (r revision) compare(other revision) int {
	return cmp.Or(cmp.Compare(r.sequence, other.sequence), r.stamped.Compare(other.stamped),
		r.modified.Compare(other.modified))
}

// The name spaces of the name-based UUIDs (RFC 9562 §5.5) that are made here. They are random and must never change:
// every id made with them would change.
var (
	idSpace = uuid.UUID{
		0x6e, 0x1d, 0x1f, 0x5b, 0x3a, 0x0c, 0x4d, 0x0e, 0x9b, 0x52, 0x7d, 0x41, 0xa8, 0x6e, 0x02, 0xc7,
	}
	contentSpace = uuid.UUID{
		0xc4, 0x9a, 0x6b, 0x0e, 0x18, 0xf3, 0x4b, 0x71, 0x8e, 0x2d, 0x53, 0x90, 0x1f, 0xb7, 0xd8, 0x34,
	}
)

// ID returns the id of an entity that a user imports under a UID: <prefix>_<UUIDv5 of user, UID and k>. The importer
// takes the first k from 0 whose id is not gone, so that a deleted entity can be imported again (docs/contracts.md).
func ID(prefix, user, uid string, k int) string {
	// None of the three can contain the separator: a user id is a word, and no content line has control characters.
	name := user + "\x00" + uid + "\x00" + strconv.Itoa(k)
	return prefix + "_" + uuid.NewSHA1(idSpace, []byte(name)).String()
}

// contentUID makes a UID for a component without one. The same content always gives the same UID.
func contentUID(c *Component) string {
	bare := &Component{Name: c.Name, Children: c.Children}
	for _, p := range c.Properties {
		switch p.Name {
		case "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "UID":
		default:
			bare.Properties = append(bare.Properties, p)
		}
	}
	return uuid.NewSHA1(contentSpace, Encode(bare)).String()
}
