package lint_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const maxLines = 500

// vague are names that say nothing about what a package is responsible for.
var vague = []string{
	"util", "utils", "common", "helper", "helpers", "model", "models", "types", "misc", "shared", "base", "core", "lib",
}

func TestEveryPackageIsNamedAfterAResponsibility(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		require.False(t, slices.Contains(vague, p.Name), "package %s in %s", p.Name, p.path())
	}
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestNoFileIsTooLongToRead(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		for _, file := range p.files(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			if generated.Match(content) {
				continue
			}
			lines := bytes.Count(content, []byte{'\n'})
			require.LessOrEqual(t, lines, maxLines, "%s has %d lines: split it by concept", file, lines)
		}
	}
}

// keyPrefix is what a partition or sort key of the table begins with.
var keyPrefix = regexp.MustCompile(`^(USER|U|EVENT|MASTER|INSTANCE|TASK|REMINDER|NOTE|USER_META|` +
	`LINK|LINKED|LEDGER|TIMER|FIRED|COLD|GONE|RECEIPT|SUM|ZONE|FEED|OPEN|` +
	`HEAD|REV|DRAFT|NODE|EDGE|TODO|BLOCK|PLAN|VALUES)#`)

func TestKeysAreSpeltInEntityAlone(t *testing.T) {
	t.Parallel()
	var found []string
	for _, p := range modulePackages(t) {
		// A suite that checks the keys of others has to spell them by itself.
		if underAny(p.path(), "pkg/entity", "internal") || strings.HasSuffix(p.Name, "test") {
			continue
		}
		for _, file := range p.files(p.GoFiles) {
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(tree, func(node ast.Node) bool {
				literal, ok := node.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				if keyPrefix.MatchString(text) {
					found = append(found, set.Position(literal.Pos()).String()+": "+literal.Value)
				}
				return true
			})
		}
	}
	require.Empty(t, found, "build and parse keys with pkg/entity")
}

// sleeps matches a wait in real time, unless the file's tests run in a bubble whose time is virtual.
var sleeps = regexp.MustCompile(`\btime\.Sleep\(`)

func TestTestsSleepInVirtualTimeOnly(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		for _, file := range p.files(p.TestGoFiles, p.XTestGoFiles) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			virtual := bytes.Contains(content, []byte(`"testing/synctest"`)) || under(p.path(), "internal/lint")
			require.True(t, virtual || !sleeps.Match(content), "%s sleeps: wait for a signal, or use testing/synctest", file)
		}
	}
}
