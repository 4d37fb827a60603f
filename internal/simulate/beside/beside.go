// Package beside builds nexus with the release before it inside, so that the simulation can let both work on the same
// rows.
//
// The code of the other commit is shown to the compiler by an overlay (go help build, -overlay), as packages below
// nexus/predecessor. The build tag "predecessor" takes in the part of internal/simulate that calls them. It promises
// that nothing in the tree is ever touched. It must never be imported by anything but its own program and tests.
package beside

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nexus/internal/simulate/rig"
)

// Before is the last commit of the release before this one.
const Before = "066b039ef888fef6261f62803a0b97690c0c4f59"

// Tag is the build tag under which internal/simulate calls the release before.
const Tag = "predecessor"

// Import paths of the tree's packages, and of those of the other commit.
const (
	tree        = "nexus/pkg/"
	predecessor = "nexus/predecessor/"
)

// Roots are the packages of the other commit that internal/simulate calls; the build includes their imports.
var Roots = []string{"archive", "command", "consume", "links", "projection", "reminders", "stats"}

var (
	// ErrNoHistory says that there is no git, or a shallow clone without the commit.
	ErrNoHistory = errors.New("the history does not reach the commit")
	// ErrCommit says that the history is complete and has no such commit.
	ErrCommit = errors.New("no such commit")
)

// Overlay writes the packages of the commit into the folder, and an overlay that names them. It returns the overlay's
// path.
func Overlay(ctx context.Context, root, commit, folder string) (string, error) {
	if err := reach(ctx, root, commit); err != nil {
		return "", err
	}
	packages, err := read(ctx, root, commit)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for _, name := range packages.closure() {
		for file, source := range packages[name] {
			files[filepath.Join(root, "predecessor", filepath.FromSlash(name), file)] = moved(source)
		}
	}
	return rig.Overlay(folder, files)
}

// Build builds nexus with the commit inside as the program, in the folder of an overlay.
func Build(ctx context.Context, root, commit, folder, program string) error {
	overlay, err := Overlay(ctx, root, commit, folder)
	if err != nil {
		return err
	}
	if err := rig.Build(ctx, root, program, "-tags", Tag, "-overlay", overlay); err != nil {
		return fmt.Errorf("with %s: %w", commit, err)
	}
	return nil
}

// reach returns nil if the commit can be read, and otherwise why not.
func reach(ctx context.Context, root, commit string) error {
	_, err := git(ctx, root, "cat-file", "-e", commit+"^{commit}")
	if err == nil {
		return nil
	}
	shallow, shallowErr := git(ctx, root, "rev-parse", "--is-shallow-repository")
	if shallowErr != nil || strings.TrimSpace(string(shallow)) == "true" {
		return fmt.Errorf("%w %s: %w", ErrNoHistory, commit, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrCommit, commit, err)
}

func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	run := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	out, err := run.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// sources are the files of packages without their tests, by the package's folder below pkg and the file's name.
type sources map[string]map[string][]byte

func read(ctx context.Context, root, commit string) (sources, error) {
	archive, err := git(ctx, root, "archive", commit, "pkg")
	if err != nil {
		return nil, err
	}
	out := sources{}
	files := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the archive of %s: %w", commit, err)
		}
		folder, name := path.Split(strings.TrimPrefix(header.Name, "pkg/"))
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := io.ReadAll(files)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", header.Name, commit, err)
		}
		folder = strings.TrimSuffix(folder, "/")
		if out[folder] == nil {
			out[folder] = map[string][]byte{}
		}
		out[folder][name] = source
	}
}

// closure returns the roots and everything that they import from the tree, sorted.
func (s sources) closure() []string {
	seen := map[string]bool{}
	for todo := slices.Clone(Roots); len(todo) > 0; {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, source := range s[name] {
			todo = append(todo, imports(source)...)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// imports returns the packages of the tree that a file imports. A file that cannot be read imports nothing: the
// compiler reports why.
func imports(source []byte) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, one := range file.Imports {
		if name, ours := strings.CutPrefix(strings.Trim(one.Path.Value, `"`), tree); ours {
			names = append(names, name)
		}
	}
	return names
}

// moved returns the file with the import paths of the packages in the build.
func moved(source []byte) []byte {
	return bytes.ReplaceAll(source, []byte(`"`+tree), []byte(`"`+predecessor))
}
