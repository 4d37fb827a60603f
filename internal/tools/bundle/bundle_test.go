package bundle_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bundle"
	"nexus/pkg/deploy/env"
)

// root is the module's.
var root = filepath.Join("..", "..", "..")

// checkout copies what the function is built from into a directory of its own, without history.
func checkout(t *testing.T, function string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Standard,Dir,GoFiles,EmbedFiles,Module",
		"./functions/"+function)
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	to := t.TempDir()
	copied := func(path string) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		below, err := filepath.Rel(from, path)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, below)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(to, below), text, 0o644))
	}
	copied(filepath.Join(from, "go.mod"))
	copied(filepath.Join(from, "go.sum"))
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir                 string
			GoFiles, EmbedFiles []string
			Module              struct{ Main bool }
		}
		err := packages.Decode(&p)
		if errors.Is(err, io.EOF) {
			return to
		}
		require.NoError(t, err)
		if p.Module.Main {
			for _, name := range append(p.GoFiles, p.EmbedFiles...) {
				copied(filepath.Join(p.Dir, name))
			}
		}
	}
}

func archived(t *testing.T, module string, function env.Function) []byte {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, bundle.Build(t.Context(), module, bundle.Lambda(), folder, "./functions/"+string(function)))
	program, err := os.Open(filepath.Join(folder, string(function)))
	require.NoError(t, err)
	defer func() { require.NoError(t, program.Close()) }()
	var out bytes.Buffer
	require.NoError(t, bundle.Archive(&out, program))
	return out.Bytes()
}

func TestArchive_givesTheSameBytesForTwoCheckouts(t *testing.T) {
	t.Parallel()
	here := archived(t, root, env.Notify)
	require.True(t, bytes.Equal(here, archived(t, checkout(t, string(env.Notify)), env.Notify)))
	text, err := filepath.Abs(root)
	require.NoError(t, err)
	program, err := io.ReadAll(entry(t, here))
	require.NoError(t, err)
	require.False(t, bytes.Contains(program, []byte(text)), "the checkout's path is in the program")
}

func entry(t *testing.T, archive []byte) fs.File {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	require.Len(t, files.File, 1)
	file, err := files.Open(bundle.Entry)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return file
}

func TestArchive_holdsTheProgramAloneForAnyUserToStart(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, bundle.Archive(&out, strings.NewReader("program")))
	file := entry(t, out.Bytes())
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	require.Equal(t, "program", string(text))
	about, err := file.Stat()
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), about.Mode())
	require.Equal(t, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), about.ModTime().UTC())
}

func TestBuild_saysWhyItFails(t *testing.T) {
	t.Parallel()
	err := bundle.Build(t.Context(), root, bundle.Lambda(), t.TempDir(), "./functions/nowhere")
	require.ErrorContains(t, err, "build [./functions/nowhere]")
	require.ErrorContains(t, err, "directory not found")
}

func TestBundle_hasAFunctionForEveryFolderWithAProgram(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	require.NoError(t, err)
	var names []env.Function
	for _, path := range mains {
		names = append(names, env.Function(filepath.Base(filepath.Dir(path))))
	}
	require.ElementsMatch(t, env.Functions(), names)
}
