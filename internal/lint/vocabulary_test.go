package lint_test

import (
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// outdated is one line of testdata/vocabulary.txt: names that have a better word, and the folders that declared them.
type outdated struct {
	folder string
	tests  bool
	names  []string
}

func vocabulary(t *testing.T) []outdated {
	t.Helper()
	text, err := os.ReadFile("testdata/vocabulary.txt")
	require.NoError(t, err)
	var out []outdated
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 3, line)
		top, rest, _ := strings.Cut(cells[0], "/")
		entry := outdated{folder: cells[0], names: strings.Fields(cells[1])}
		if top == "tests" {
			entry.folder, entry.tests = rest, true
		}
		out = append(out, entry)
	}
	return out
}

func (o outdated) isIn(f *file) bool {
	return o.tests == f.isTest() && (o.folder == "" || slices.Contains(strings.Split(f.folder(), "/"), o.folder))
}

// TestVocabulary holds the number of names of testdata/vocabulary.txt that the tree still declares.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	var found []hit
	entries := vocabulary(t)
	for _, f := range loaded(t).source {
		mine := slices.DeleteFunc(slices.Clone(entries), func(o outdated) bool { return !o.isIn(f) })
		has := func(name string) bool {
			return slices.ContainsFunc(mine, func(o outdated) bool { return slices.Contains(o.names, name) })
		}
		if has(path.Base(f.path)) {
			found = append(found, hit{path: f.path, what: path.Base(f.path)})
		}
		for _, d := range f.declared() {
			name := strings.TrimPrefix(d.receiver+"."+d.name, ".")
			_, function := d.node.(*ast.FuncDecl)
			if has(name) || d.receiver != "" && function && has("*."+d.name) {
				found = append(found, hit{f.path, loaded(t).set.Position(d.node.Pos()).Line, name})
			}
		}
	}
	holdCount(t, "outdated-names", found)
}

// vagueFirstWords begin names of functions that do not say what the function does.
var vagueFirstWords = []string{"settle", "look", "reckon", "judge", "mend", "tell", "give", "of"}

// TestFirstWords holds the number of functions and methods, in tests too, whose names begin with a word that does not
// say what the function does.
func TestFirstWords(t *testing.T) {
	t.Parallel()
	var found []hit
	for _, f := range loaded(t).source {
		for _, d := range f.declared() {
			if _, function := d.node.(*ast.FuncDecl); function && slices.Contains(vagueFirstWords, firstWord(d.name)) {
				found = append(found, hit{f.path, loaded(t).set.Position(d.node.Pos()).Line, d.name})
			}
		}
	}
	holdCount(t, "vague-first-words", found)
}

// firstWord returns the first word of a name, in lower case: "settle" of SettleAll.
func firstWord(name string) string {
	rest := strings.TrimLeftFunc(name, unicode.IsUpper)
	if end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLower(r) }); end >= 0 {
		name = name[:len(name)-len(rest)+end]
	}
	return strings.ToLower(name)
}

func TestFirstWords_endWhereTheNextBegins(t *testing.T) {
	t.Parallel()
	for name, word := range map[string]string{
		"settle": "settle", "SettleAll": "settle", "settlePast2": "settle", "settled": "settled", "offset": "offset",
		"ofDay": "of", "look_up": "look",
	} {
		require.Equal(t, word, firstWord(name), name)
	}
}
