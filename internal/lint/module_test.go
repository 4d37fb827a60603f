package lint_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const module = "nexus"

// root leads from this folder to that of the tree.
const root = "../.."

// file is one file of the tree, a Go file or a document.
type file struct {
	path  string // below the root, with slashes
	text  []byte
	tree  *ast.File // nil for a document
	built bool      // false for a Go file that a plain go build leaves out
}

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f *file) folder() string { return path.Dir(f.path) }

// pkg is a folder with Go files. Files that a plain go build leaves out do not count.
type pkg struct {
	path  string
	files []*file // without tests
	tests []*file
}

// name is the name of the package, without the _test of a package that only has tests.
func (p pkg) name() string {
	return strings.TrimSuffix(slices.Concat(p.files, p.tests)[0].tree.Name.Name, "_test")
}

// imports are the import paths of the files that are not tests.
func (p pkg) imports() []string {
	var out []string
	for _, f := range p.files {
		out = append(out, f.imports()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (f *file) imports() []string {
	var out []string
	for _, spec := range f.tree.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		out = append(out, imported)
	}
	return out
}

// tree is all that the tests of this package look at.
type tree struct {
	set       *token.FileSet
	source    []*file  // every Go file, in the order of paths
	documents []*file  // every *.md, in the order of paths
	paths     []string // of every file, below the root
	packages  []pkg    // of every module
	modules   []string // folders of modules of their own
}

// notOurs are folders whose content is made, not written.
var notOurs = []string{"bin", "dist", "generated", "node_modules"}

// loadTree reads and parses the tree once for all tests. It lists folders itself, so that the cache of go test notices
// new files.
var loadTree = sync.OnceValues(func() (*tree, error) {
	t := &tree{set: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && name != root
			if hidden || slices.Contains(notOurs, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		f := &file{path: strings.TrimPrefix(filepath.ToSlash(name), root+"/")}
		t.paths = append(t.paths, f.path)
		switch path.Ext(f.path) {
		case ".go":
			t.source = append(t.source, f)
		case ".md":
			t.documents = append(t.documents, f)
		case ".mod":
			t.modules = append(t.modules, f.folder())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var readers errgroup.Group
	readers.SetLimit(8)
	for _, f := range slices.Concat(t.source, t.documents) {
		readers.Go(func() error { return f.load(t.set) })
	}
	if err := readers.Wait(); err != nil {
		return nil, err
	}
	t.packages = inPackages(t.source)
	return t, nil
})

func (f *file) load(set *token.FileSet) (err error) {
	name := filepath.Join(root, filepath.FromSlash(f.path))
	if f.text, err = os.ReadFile(name); err != nil || path.Ext(f.path) != ".go" {
		return err
	}
	if f.tree, err = parser.ParseFile(set, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return err
	}
	f.built, err = build.Default.MatchFile(filepath.Split(name))
	return err
}

func inPackages(source []*file) []pkg {
	byFolder := map[string]*pkg{}
	for _, f := range source {
		if !f.built {
			continue
		}
		p, ok := byFolder[f.folder()]
		if !ok {
			p = &pkg{path: f.folder()}
			byFolder[f.folder()] = p
		}
		if f.isTest() {
			p.tests = append(p.tests, f)
		} else {
			p.files = append(p.files, f)
		}
	}
	var out []pkg
	for _, p := range byFolder {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b pkg) int { return strings.Compare(a.path, b.path) })
	return out
}

func loaded(t *testing.T) *tree {
	t.Helper()
	out, err := loadTree()
	require.NoError(t, err)
	require.NotEmpty(t, out.packages)
	require.NotEmpty(t, out.documents)
	return out
}

// modulePackages are the packages of the module nexus, without those of the modules below it.
func modulePackages(t *testing.T) []pkg {
	t.Helper()
	others := slices.DeleteFunc(slices.Clone(loaded(t).modules), func(folder string) bool { return folder == "." })
	return slices.DeleteFunc(slices.Clone(loaded(t).packages), func(p pkg) bool { return underAny(p.path, others...) })
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
