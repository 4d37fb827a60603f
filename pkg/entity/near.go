package entity

import "strings"

const (
	// maxNear bounds how many names are proposed for one that is not known.
	maxNear = 3
	// shortestStem is the length from which on a name's beginning proposes what begins so.
	shortestStem = 3
	// shortestEnd is the length from which on a name proposes itself for one that ends in it: tzid for triggerTzid.
	shortestEnd = 4
	// maxGuesses bounds for how many unknown names of one object others are proposed: an object may be made of them.
	maxGuesses = 8
)

// Near returns which of the known names the client may have meant by the name, as the end of a message: "; did you mean
// dueUtc?". It is empty where none is near.
func Near(name string, known []string) string { return proposal(nearest(name, known)) }

// nearest returns which of the known names may be meant by the name, at most maxNear.
func nearest(name string, known []string) (found []string) {
	if len(name) > maxNameLength {
		return nil
	}
	for _, near := range []func(plain, candidate string) bool{
		func(plain, candidate string) bool { return plain == candidate },
		isInstantOf,
		func(plain, candidate string) bool {
			return len(candidate) >= shortestEnd && strings.HasSuffix(plain, candidate)
		},
		func(plain, candidate string) bool { return edits(plain, candidate) <= max(1, (len(plain)+1)/3) },
		func(plain, candidate string) bool {
			return len(plain) >= shortestStem && strings.HasPrefix(candidate, plain)
		},
	} {
		for _, k := range known {
			if len(found) < maxNear && near(plainName(name), plainName(k)) {
				found = append(found, k)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// proposal is the end of a message that proposes the names, as [Near] returns it.
func proposal(found []string) string {
	if len(found) == 0 {
		return ""
	}
	text := found[0]
	for i, k := range found[1:] {
		if i == len(found)-2 {
			text += " or " + k
		} else {
			text += ", " + k
		}
	}
	return "; did you mean " + text + "?"
}

// plainName is a name without what people write in different ways: due_utc is dueUtc.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// isInstantOf reports whether the name calls by a word of other products the instant that is called Utc here: startTime
// is startUtc.
func isInstantOf(plain, candidate string) bool {
	stem, isUtc := strings.CutSuffix(candidate, "utc")
	word, found := strings.CutPrefix(plain, stem)
	return isUtc && found && stem != "" && (word == "time" || word == "at" || word == "datetime")
}

// edits is how many bytes have to be added, taken away, replaced or exchanged with their neighbour to make b of a (the
// optimal string alignment distance).
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replace)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
