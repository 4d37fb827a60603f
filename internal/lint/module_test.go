package lint_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "nexus"

// pkg is what go list says of one package.
type pkg struct {
	ImportPath   string
	Name         string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
}

// path is the import path below the module, "." for its root.
func (p pkg) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func (p pkg) files(groups ...[]string) []string {
	var out []string
	for _, names := range groups {
		for _, name := range names {
			out = append(out, filepath.Join(p.Dir, name))
		}
	}
	return out
}

// packages lists the module once for all tests.
var packages = sync.OnceValues(func() ([]pkg, error) {
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports", "./...")
	command.Dir = filepath.Join("..", "..")
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, errors.New(string(exit.Stderr))
	}
	if err != nil {
		return nil, err
	}
	var list []pkg
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
})

func modulePackages(t *testing.T) []pkg {
	t.Helper()
	list, err := packages()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	return list
}

// under reports whether path is the folder or lies in it.
func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func underAny(path string, folders ...string) bool {
	for _, folder := range folders {
		if under(path, folder) {
			return true
		}
	}
	return false
}
