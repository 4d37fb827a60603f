package change

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"nexus/pkg/item"
)

// lookAhead bounds how many attributes of the previous image the next may lack before the comparison loses its place.
const lookAhead = 3

// likeness reuses names and texts of the image that was read before, mostly the other image of the same record. If
// they are found at the same place, they need not be allocated again.
type likeness struct {
	before, now []attribute
	place       int // in before
}

// attribute is one attribute of an image.
type attribute struct {
	name  string
	value item.Value
}

// rewind makes the image read last the one to compare with.
func (l *likeness) rewind() {
	l.before, l.now, l.place = l.now, l.before[:0], 0
}

// size is the number of attributes of the image read last.
func (l *likeness) size() int { return len(l.now) }

// find returns the name that is quoted, and the value that the attribute had before.
func (l *likeness) find(quoted jsontext.Value) (name string, before item.Value, ok bool) {
	for i := l.place; i < len(l.before) && i < l.place+lookAhead; i++ {
		if a := &l.before[i]; sameText(quoted, a.name) {
			l.place = i + 1
			return a.name, a.value, true
		}
	}
	return "", nil, false
}

func (l *likeness) add(name string, v item.Value) { l.now = append(l.now, attribute{name, v}) }

// sameText reports whether the quoted text, without escapes, equals s. It may miss an equal text with an escape.
func sameText(quoted jsontext.Value, s string) bool {
	return len(quoted) == len(s)+2 && string(quoted[1:len(quoted)-1]) == s && bytes.IndexByte(quoted, '\\') < 0
}
