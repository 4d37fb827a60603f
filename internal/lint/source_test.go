package lint_test

import (
	"bytes"
	"go/ast"
	"go/token"
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

func TestPackages_areNamedAfterAResponsibility(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		require.False(t, slices.Contains(vague, p.name()), "package %s in %s", p.name(), p.path)
	}
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestFiles_areShortEnoughToRead(t *testing.T) {
	t.Parallel()
	for _, f := range loaded(t).source {
		if generated.Match(f.text) {
			continue
		}
		lines := bytes.Count(f.text, []byte{'\n'})
		require.LessOrEqual(t, lines, maxLines, "%s has %d lines: split it by concept", f.path, lines)
	}
}

// keyPrefix matches the beginning of a partition or sort key of the table.
var keyPrefix = regexp.MustCompile(`^(USER|U|EVENT|MASTER|INSTANCE|TASK|REMINDER|NOTE|USER_META|` +
	`LINK|LINKED|LEDGER|TIMER|FIRED|COLD|GONE|RECEIPT|SUM|ZONE|FEED|OPEN|` +
	`HEAD|REV|DRAFT|NODE|EDGE|TODO|BLOCK|PLAN|VALUES)#`)

func TestKeys_areSpelledInEntityAlone(t *testing.T) {
	t.Parallel()
	var found []string
	for _, p := range modulePackages(t) {
		// What lists or checks the keys of others has to spell them by itself.
		if underAny(p.path, "pkg/entity", "pkg/register", "internal/wiretest", lintFolder) ||
			strings.HasSuffix(p.name(), "test") {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f.tree, func(node ast.Node) bool {
				literal, ok := node.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				if keyPrefix.MatchString(text) {
					found = append(found, loaded(t).set.Position(literal.Pos()).String()+": "+literal.Value)
				}
				return true
			})
		}
	}
	require.Empty(t, found, "build and parse keys with pkg/entity")
}

// sleeps matches a wait in real time, unless the file's tests run in a bubble whose time is virtual.
var sleeps = regexp.MustCompile(`\btime\.Sleep\(`)

func TestTests_sleepInVirtualTimeOnly(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		for _, f := range p.tests {
			virtual := bytes.Contains(f.text, []byte(`"testing/synctest"`)) || under(p.path, "internal/lint")
			require.True(t, virtual || !sleeps.Match(f.text), "%s sleeps: wait for a signal, or use testing/synctest", f.path)
		}
	}
}
