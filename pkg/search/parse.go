package search

import (
	"errors"
	"strings"
	"unicode"

	"nexus/pkg/text"
)

// MaxWords bounds the words of a query.
const MaxWords = 16

// ErrWords says that a query has more than [MaxWords] words.
var ErrWords = errors.New("too many words in a query")

// Query is a text that was read as a query. The zero Query matches all documents.
type Query struct {
	must, not []clause
}

// clause is a sequence of words that stand side by side in a text.
type clause struct {
	words []string
	// prefix says that the last word may be the beginning of a longer one.
	prefix bool
	// exact says that no misspelling is looked for.
	exact bool
}

// Parse reads a query: words between spaces, "phrases" in quotation marks, and either with a hyphen in front, which no
// match may have. A text between spaces that has several words is a phrase, too. The last word may be a beginning.
func Parse(q string, split func(string) []text.Word) (Query, error) {
	var out Query
	total := 0
	for rest := q; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			break
		}
		var part string
		var negative, quoted bool
		part, rest, negative, quoted = nextPart(rest)
		c := clause{exact: quoted || negative}
		for _, w := range split(part) {
			c.words = append(c.words, w.Folded)
		}
		if total += len(c.words); total > MaxWords {
			return Query{}, ErrWords
		}
		switch {
		case len(c.words) == 0:
		case negative:
			out.not = append(out.not, c)
		default:
			c.prefix = !quoted && strings.TrimSpace(rest) == ""
			c.exact = c.exact || len(c.words) > 1
			out.must = append(out.must, c)
		}
	}
	return out, nil
}

// nextPart cuts the first part off a query that begins with no space.
func nextPart(q string) (part, rest string, negative, quoted bool) {
	if after, ok := strings.CutPrefix(q, "-"); ok && after != "" {
		q, negative = after, true
	}
	if after, ok := strings.CutPrefix(q, `"`); ok {
		part, rest, _ = strings.Cut(after, `"`)
		return part, rest, negative, true
	}
	end := strings.IndexFunc(q, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		end = len(q)
	}
	return q[:end], q[end:], negative, false
}

// IsEmpty reports whether the query has no word, so that it matches all documents.
func (q Query) IsEmpty() bool { return len(q.must) == 0 && len(q.not) == 0 }

// Ranks reports whether the query has a word that a match has, so that matches have ranks.
func (q Query) Ranks() bool { return len(q.must) > 0 }
