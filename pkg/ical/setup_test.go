package ical_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
)

// corpus returns other projects' calendar files, by name; it skips the test where they are absent.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	root := os.Getenv("NEXUS_CORPORA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "corpora")
	}
	names, err := filepath.Glob(filepath.Join(root, "ics", "*.ics"))
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skip("no calendar files at " + root)
	}
	files := map[string][]byte{}
	for _, name := range names {
		files[filepath.Base(name)], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return files
}

// text joins lines as the standard ends them.
func text(lines ...string) []byte { return []byte(strings.Join(lines, "\r\n") + "\r\n") }

// calendar puts lines into a VCALENDAR.
func calendar(lines ...string) []byte {
	return text("BEGIN:VCALENDAR", "VERSION:2.0", strings.Join(lines, "\r\n"), "END:VCALENDAR")
}

func decode(t testing.TB, content []byte) *ical.Document {
	t.Helper()
	document, err := ical.Decode(content, ical.RequestLimits())
	require.NoError(t, err)
	return document
}

// sameTree compares what a tree says, not where it was read.
func sameTree(a, b *ical.Document) string {
	return cmp.Diff(a.Calendars, b.Calendars,
		cmpopts.IgnoreFields(ical.Component{}, "Line", "Faults", "Replaced"), cmpopts.IgnoreFields(ical.Property{}, "Line"))
}
