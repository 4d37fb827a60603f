package census_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/simulate/census"
)

const source = `package p

import "errors"

func write(n int) (err error) {
	if n == 1 {
		return ErrConflict
	}
	switch {
	case n == 2:
		n++
	case errors.Is(err, ErrConflict):
		if n > 3 {
			n = 4
		}
		return nil
	default:
		n--
	}
	for range n {
		return nil
	}
	return errContended
}

func never(n int) int {
	if n > 0 {
		return 1
	}
	return 2
}
`

// profile is of a run that called write(2) alone.
const profile = `mode: set
nexus/pkg/p/a.go:5.31,6.12 1 1
nexus/pkg/p/a.go:6.12,8.3 1 0
nexus/pkg/p/a.go:9.2,9.9 1 1
nexus/pkg/p/a.go:10.14,11.6 1 1
nexus/pkg/p/a.go:12.35,13.12 1 0
nexus/pkg/p/a.go:13.12,15.4 1 0
nexus/pkg/p/a.go:16.3,16.13 1 0
nexus/pkg/p/a.go:17.10,18.6 1 0
nexus/pkg/p/a.go:20.2,20.14 1 1
nexus/pkg/p/a.go:20.14,22.3 1 1
nexus/pkg/p/a.go:23.2,23.21 1 0
nexus/pkg/p/a.go:26.23,27.11 1 0
nexus/pkg/p/a.go:27.11,29.3 1 0
nexus/pkg/p/a.go:30.2,30.10 1 0
nexus/pkg/other/b.go:1.1,2.2 1 0
`

func take(t *testing.T) census.Result {
	blocks, err := census.ReadProfile([]byte(profile), []string{"p"})
	require.NoError(t, err)
	result, err := census.New(blocks, map[string][]byte{"p/a.go": []byte(source)})
	require.NoError(t, err)
	return result
}

func TestCensus_executesOrNamesEachBranch(t *testing.T) {
	t.Parallel()
	result := take(t)
	require.Equal(t, []census.Share{{Package: "p", Statements: 14, Executed: 5}}, result.Shares)
	var unreached []string
	for _, b := range result.Branches {
		if !b.Executed {
			unreached = append(unreached, b.String())
		}
	}
	require.Equal(t, []string{
		"p/a.go write: if n == 1 { return ErrConflict",
		"p/a.go write: case errors.Is(err, ErrConflict) { if n > 3 { n = 4 }",
		"p/a.go write: default { n--",
		"p/a.go write: behind { return errContended",
		"p/a.go never: func { if n > 0 { return 1 }",
	}, unreached, "a branch that is never reached stands for those within it")
	all, executed := result.Conflicts()
	require.Equal(t, 4, all, "the function that holds them is one, too")
	require.Equal(t, 1, executed)
}

func TestResult_reportsABranchNeitherReachedNorListed(t *testing.T) {
	t.Parallel()
	result := take(t)
	listed := map[census.Place]string{
		{"p/a.go", "never", "func { if n > 0 { return 1 }"}:   "no caller is left",
		{"p/a.go", "write", "default { n--"}:                  "never",
		{"p/a.go", "write", "case n == 2 { n++"}:              "it is reached now",
		{"p/a.go", "write", "behind { return errContended"}:   "never",
		{"p/a.go", "write", "if n == 1 { return ErrConflict"}: "never",
		{"p/a.go", "write", "if n == 9 { return nil"}:         "was taken out of the code",
	}
	require.Equal(t, []string{
		"listed, and not in the code: p/a.go write: if n == 9 { return nil",
		"never reached, and not listed: p/a.go write: case errors.Is(err, ErrConflict) { if n > 3 { n = 4 }",
		"pkg/p: 35.7 % of statements, want 95",
	}, result.Problems(listed))
	reached := result.Reached(listed)
	require.Len(t, reached, 1)
	require.Equal(t, "case n == 2 { n++", reached[0].Text)
}

func TestReadList_readsALineAsItIsWritten(t *testing.T) {
	t.Parallel()
	b := census.Branch{File: "p/a.go", Function: "f", Text: "if a || b { return"}
	head := "text\n\n| file | function | branch | why the simulation never reaches it |\n| --- | --- | --- | --- |\n"
	line := b.Line()
	listed, err := census.ReadList(head + line[:len(line)-3] + "because |\n\n| other | table |\n")
	require.NoError(t, err)
	require.Equal(t, map[census.Place]string{{"p/a.go", "f", "if a || b { return"}: "because"}, listed)
	for _, text := range []string{"", head + line, head + "| a | b |", head + "| a | b | `c` | d |\n| a | b | `c` | e |"} {
		_, err := census.ReadList(text)
		require.ErrorIs(t, err, census.ErrList, text)
	}
}

func TestReadProfile_refusesTextThatIsNoProfile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "mode: set\n", "mode: set\nnexus/pkg/p/a.go:5.31,6.12 1", "nexus/pkg/p/a.go:5,6.12 1 1",
		"nexus/pkg/p/a.go:5.1,6.12 x 1",
	} {
		_, err := census.ReadProfile([]byte(text), []string{"p"})
		require.ErrorIs(t, err, census.ErrProfile, text)
	}
}

func TestReadList_readsTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "simulation.md"))
	require.NoError(t, err)
	listed, err := census.ReadList(string(text))
	require.NoError(t, err)
	require.NotEmpty(t, listed)
	for place := range listed {
		source, err := os.ReadFile(filepath.Join("..", "..", "..", "pkg", filepath.FromSlash(place.File)))
		require.NoError(t, err)
		require.Contains(t, string(source), place.Function+"(", place)
	}
}
