package lint_test

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	maxProse = 100 // columns of a line of prose in a document
	maxCode  = 120 // columns of a line of Go; a tab counts one
)

// banned are phrases that the project does not use, in comments and documents. A phrase in a code span is a quotation.
var banned = regexp.MustCompile(`(?i)\b(anew|whoever|meanwhile|sees to|told from|looked after|at hand|` +
	`behind (?:(?:an?|the|any|all|every|each|another|its|their|this|that|these|those) (?:[\w']+ ){0,2})?` +
	`(?:records?|writes?|calls?|transactions?))\b`)

// isWhat is a comment that begins "Name is what" or goes on like that on a new line.
var isWhat = regexp.MustCompile(`^// [\w.]+ (?:is|are) what\b`)

// TestProse holds four numbers: lines of prose of documents over 100 columns, lines of Go over 120, banned phrases in
// comments and documents, and comments of the form "// Name is what". Tables and code blocks of documents are no prose
// where lines are measured; tables are where phrases are looked for.
func TestProse(t *testing.T) {
	t.Parallel()
	var long, wide, phrases, whats []hit
	for _, f := range loaded(t).documents {
		document := f.prose()
		for _, l := range document {
			if !l.inTable && utf8.RuneCountInString(l.text) > maxProse {
				long = append(long, hit{f.path, l.number, l.text})
			}
		}
		phrases = append(phrases, bannedIn(f.path, document)...)
	}
	for _, f := range loaded(t).source {
		for i, text := range strings.Split(string(f.text), "\n") {
			if utf8.RuneCountInString(text) > maxCode {
				wide = append(wide, hit{f.path, i + 1, strings.TrimSpace(text)})
			}
		}
		for _, group := range f.tree.Comments {
			comment := commentLines(loaded(t).set.Position(group.Pos()).Line, group)
			phrases = append(phrases, bannedIn(f.path, comment)...)
			for _, l := range comment {
				if isWhat.MatchString("// " + l.text) {
					whats = append(whats, hit{f.path, l.number, l.text})
				}
			}
		}
	}
	t.Run("documents", func(t *testing.T) { holdCount(t, "long-lines-of-prose", long) })
	t.Run("code", func(t *testing.T) { holdCount(t, "long-lines-of-go", wide) })
	t.Run("phrases", func(t *testing.T) { holdCount(t, "banned-phrases", phrases) })
	t.Run("what", func(t *testing.T) { holdCount(t, "name-is-what", whats) })
}

// line is one line of prose.
type line struct {
	number  int
	text    string
	inTable bool
}

// prose are the lines of a document outside of its code blocks.
func (f *file) prose() []line {
	var out []line
	inCode := false
	for i, text := range strings.Split(string(f.text), "\n") {
		trimmed := strings.TrimSpace(text)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			inCode = !inCode
			continue
		}
		if !inCode {
			out = append(out, line{i + 1, text, strings.HasPrefix(trimmed, "|")})
		}
	}
	return out
}

func commentLines(first int, group *ast.CommentGroup) []line {
	var out []line
	for _, comment := range group.List {
		for text := range strings.SplitSeq(comment.Text, "\n") {
			text = strings.TrimPrefix(strings.TrimPrefix(text, "//"), "/*")
			out = append(out, line{first + len(out), strings.TrimSpace(strings.TrimSuffix(text, "*/")), false})
		}
	}
	return out
}

var codeSpan = regexp.MustCompile("`[^`]*`")

// bannedIn finds banned phrases, also those that a line break divides.
func bannedIn(path string, lines []line) []hit {
	var joined strings.Builder
	var starts []int // where each line begins in joined
	for _, l := range lines {
		starts = append(starts, joined.Len())
		joined.WriteString(strings.TrimSpace(l.text))
		joined.WriteByte(' ')
	}
	blank := func(span string) string { return strings.Repeat("`", len(span)) }
	var out []hit
	for _, at := range banned.FindAllStringIndex(codeSpan.ReplaceAllStringFunc(joined.String(), blank), -1) {
		of := 0
		for of+1 < len(starts) && starts[of+1] <= at[0] {
			of++
		}
		out = append(out, hit{path, lines[of].number, joined.String()[at[0]:at[1]]})
	}
	return out
}

func TestProse_findsPhrasesAcrossLinesAndLeavesQuotationsAlone(t *testing.T) {
	t.Parallel()
	lines := []line{
		{1, "The row is told", false},
		{2, "  from its key, and Whoever reads `anew` waits behind the last", false},
		{3, "record, or behind it. Behind that write", false},
		{4, "nothing is behind when it writes.", false},
	}
	require.Equal(t, []hit{
		{"x.md", 1, "told from"},
		{"x.md", 2, "Whoever"},
		{"x.md", 2, "behind the last record"},
		{"x.md", 3, "Behind that write"},
	}, bannedIn("x.md", lines))
}

func TestProse_measuresOutsideCodeBlocks(t *testing.T) {
	t.Parallel()
	document := file{text: []byte("one\n```go\ntwo\n```\n| three |\n")}
	require.Equal(t, []line{{1, "one", false}, {5, "| three |", true}, {6, "", false}}, document.prose())
}
