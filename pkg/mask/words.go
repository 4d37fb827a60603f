package mask

import (
	"strings"
	"sync"

	"nexus/pkg/register"
)

// words goes through the longest runs of the characters that user ids have: A-Z a-z 0-9 _ -.
type words struct {
	text       string
	start, end int
	// the two words before, each from and until
	last, lastButOne [2]int
}

func wordsOf(text string) *words { return &words{text: text} }

// next moves to the next word, and reports whether there is one.
func (w *words) next() bool {
	w.lastButOne, w.last = w.last, [2]int{w.start, w.end}
	for w.start = w.end; w.start < len(w.text) && !isWordByte(w.text[w.start]); w.start++ {
		continue
	}
	for w.end = w.start; w.end < len(w.text) && isWordByte(w.text[w.end]); w.end++ {
		continue
	}
	return w.start < w.end
}

func (w *words) current() string { return w.text[w.start:w.end] }

// isUser reports whether the word is the user of a key or of an object's name. The users of names stand before a
// slash: so archive.go in the path of a source file is none.
func (w *words) isUser() bool {
	if w.start == 0 || w.last[1] != w.start-1 {
		return false
	}
	before := w.text[w.last[0]:w.last[1]]
	switch w.text[w.start-1] {
	case '#':
		return places().keys[before]
	case '/':
		if w.end == len(w.text) || w.text[w.end] != '/' {
			return false
		}
		if places().names[before] {
			return true
		}
		return w.lastButOne[1] == w.last[0]-1 && w.text[w.lastButOne[1]] == '/' &&
			places().parted[w.text[w.lastButOne[0]:w.lastButOne[1]]]
	}
	return false
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// linked begins the keys of the index of backlinks, which are no keys of rows.
const linked = "LINKED"

// userPlaces are the places of users in keys and names.
type userPlaces struct {
	keys   map[string]bool // components before the user's: USER#u
	names  map[string]bool // folders of the users': archive/u/
	parted map[string]bool // the same, with a folder between: parked/stats/u/
}

// places reads them from the register, so that a new kind of row or object is masked with its line.
var places = sync.OnceValue(func() userPlaces {
	p := userPlaces{keys: map[string]bool{linked: true}, names: map[string]bool{}, parted: map[string]bool{}}
	for _, line := range register.Lines() {
		for _, key := range []string{string(line.Place), line.Shape} {
			parts := strings.Split(key, "#")
			for i := 1; i < len(parts); i++ {
				if parts[i] == "u" {
					p.keys[parts[i-1]] = true
				}
			}
		}
		folders := strings.Split(line.Shape, "/")
		switch {
		case len(folders) > 2 && folders[1] == "<u>":
			p.names[folders[0]] = true
		case len(folders) > 3 && folders[2] == "<u>":
			p.parted[folders[0]] = true
		}
	}
	return p
})
