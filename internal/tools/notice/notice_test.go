package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..")

func TestNotice_isUpToDate(t *testing.T) {
	t.Parallel()
	packages, err := shipped(t.Context(), root)
	require.NoError(t, err)
	for _, p := range packages {
		if p.Module != nil && p.Module.Main {
			// So the cache of go test notices a package that imports another module.
			_, err := os.ReadDir(p.Dir)
			require.NoError(t, err)
		}
	}
	want, err := notice(packages)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	require.NoError(t, err)
	require.Equal(t, want, string(text), "the modules of the programs have other licences: make notice")
}

// module makes a module with these files, and returns its package in the folder below.
func module(t *testing.T, name, below string, files map[string]string) code {
	t.Helper()
	top := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(top, below), 0o755))
	for path, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(top, path), []byte(text), 0o644))
	}
	return code{ImportPath: name + "/" + below, Dir: filepath.Join(top, below), Module: &home{Path: name, Dir: top}}
}

func TestNotice_hasEachTextOnceWithTheFilesOfItsName(t *testing.T) {
	t.Parallel()
	a := module(t, "example.com/a", "in/ner", map[string]string{
		"LICENSE": "Terms.\r\nNo warranty.\r\n\r\n", "in/COPYING.txt": "Of another.", "in/ner/license.go": "package ner",
		"README.md": "Read me.", "in/ner/ner.go": "package ner",
	})
	b := module(t, "example.com/b", ".", map[string]string{"LICENCE.md": "Terms.\nNo warranty.\n", "NOTICE": "By b."})
	text, err := notice([]code{b, a, a})
	require.NoError(t, err)
	rule := strings.Repeat("=", 80) + "\n"
	require.Equal(t, head+
		"\n"+rule+"example.com/a/LICENSE\nexample.com/b/LICENCE.md\n"+rule+"\nTerms.\nNo warranty.\n"+
		"\n"+rule+"example.com/a/in/COPYING.txt\n"+rule+"\nOf another.\n"+
		"\n"+rule+"example.com/b/NOTICE\n"+rule+"\nBy b.\n", text)
}

func TestNotice_hasWhatAPackageOfOursEmbeds(t *testing.T) {
	t.Parallel()
	ours := module(t, "nexus", "page/vendored", map[string]string{"page/vendored/chart.LICENSE": "MIT"})
	ours.ImportPath, ours.Dir, ours.Module.Main = "nexus", ours.Module.Dir, true
	text, err := notice([]code{ours})
	require.NoError(t, err)
	require.Contains(t, text, "nexus/page/vendored/chart.LICENSE\n")
	require.Contains(t, text, "\nMIT\n")
}

func TestNotice_refusesAModuleWithoutALicence(t *testing.T) {
	t.Parallel()
	// A licence of one folder does not speak for the module.
	p := module(t, "example.com/a", "in", map[string]string{"in/LICENSE": "Terms.", "in/in.go": "package in"})
	_, err := notice([]code{p})
	require.ErrorContains(t, err, "example.com/a says nowhere")
}
