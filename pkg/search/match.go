package search

import (
	"slices"
	"strings"
)

// matches are the places of a clause in the documents that have it. A phrase is at the place of its first word.
type matches map[int32][]int32

// find returns where the clause is in documents that are there.
func (x *Index) find(c clause, alive []bool) matches {
	last := len(c.words) - 1
	var found matches
	for i, word := range c.words {
		numbers := x.exactly(word)
		if i == last && c.prefix {
			numbers = x.beginning(word)
		}
		here := x.places(numbers, alive)
		if len(here) == 0 && !c.exact {
			here = x.places(x.near(word), alive)
		}
		if i == 0 {
			found = here
			continue
		}
		found = found.followedBy(here, int32(i))
	}
	return found
}

// followedBy keeps the places that the other has, so many positions further.
func (m matches) followedBy(other matches, distance int32) matches {
	out := matches{}
	for doc, positions := range m {
		there := other[doc]
		for _, p := range positions {
			if _, ok := slices.BinarySearch(there, p+distance); ok {
				out[doc] = append(out[doc], p)
			}
		}
	}
	return out
}

func (x *Index) exactly(word string) []int32 {
	if n, ok := x.numbers[word]; ok {
		return []int32{n}
	}
	return nil
}

// beginning returns the words that begin with the prefix.
func (x *Index) beginning(prefix string) []int32 {
	var out []int32
	first, _ := slices.BinarySearch(x.words[:x.sorted], prefix)
	for n := first; n < x.sorted && strings.HasPrefix(x.words[n], prefix); n++ {
		out = append(out, int32(n))
	}
	for n := x.sorted; n < len(x.words); n++ {
		if strings.HasPrefix(x.words[n], prefix) {
			out = append(out, int32(n))
		}
	}
	return out
}

// places returns the places of any of the words, in documents that are there, in ascending order.
func (x *Index) places(numbers []int32, alive []bool) matches {
	out := matches{}
	for _, n := range numbers {
		for _, p := range x.postings[n] {
			if alive[p.doc] {
				out[p.doc] = append(out[p.doc], p.position)
			}
		}
	}
	if len(numbers) > 1 {
		for _, positions := range out {
			slices.Sort(positions)
		}
	}
	return out
}

// minMisspelt is the number of characters from which on a word may be misspelt.
const minMisspelt = 5

// near returns the words that one edit makes of the word: a character more, less or other, or two exchanged.
func (x *Index) near(word string) []int32 {
	runes := []rune(word)
	if len(runes) < minMisspelt {
		return nil
	}
	var out []int32
	for n, other := range x.words {
		if len(other) <= len(word)+4 && len(word) <= len(other)+4 && isOneEdit(runes, []rune(other)) {
			out = append(out, int32(n))
		}
	}
	return out
}

// isOneEdit reports whether one edit makes b of a.
func isOneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) < len(b):
		return slices.Equal(a[i:], b[i+1:])
	case i == len(a):
		return false // equal
	case slices.Equal(a[i+1:], b[i+1:]):
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}
