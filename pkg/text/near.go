package text

import "strings"

const (
	// maxNear bounds how many names are proposed for one unknown name.
	maxNear = 3
	// shortestStem is the shortest name that proposes the fields that begin with it.
	shortestStem = 3
	// shortestEnd is the shortest name that is proposed for a longer one that ends in it: tzid for triggerTzid.
	shortestEnd = 4
	// longestName is the longest name that gets proposals.
	longestName = 64
)

// Near returns the known names that a writer of the name may have meant, at most three.
func Near(name string, known []string) (found []string) {
	if len(name) > longestName {
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

// DidYouMean returns the end of a message that proposes the names: "; did you mean dueUtc?". It is empty without names.
func DidYouMean(found []string) string {
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

// plainName drops differences of spelling from a name: due_utc becomes dueUtc.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// isInstantOf reports whether the name is another product's word for an instant with the suffix Utc: startTime means
// startUtc.
func isInstantOf(plain, candidate string) bool {
	stem, isUtc := strings.CutSuffix(candidate, "utc")
	word, found := strings.CutPrefix(plain, stem)
	return isUtc && found && stem != "" && (word == "time" || word == "at" || word == "datetime")
}

// edits counts the bytes to add, remove, replace or exchange with their neighbour to turn a into b (the optimal string
// alignment distance).
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
