package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const head = `Nexus

The programs of Nexus contain code of others: the modules below, packages of npm in the page of the console, and the
standard library of Go. Each text is a file of its module or page, which may name more than the programs contain. The
names above it are the modules and files that have this text. "make notice" writes this file.
`

// about finds the files that say under which terms code may be used, by their names: LICENSE.txt, SQLITE-LICENSE,
// COPYING, NOTICE, PATENTS.
var about = regexp.MustCompile(`(?i)(licen[cs]e|copying|copyright|notice|patents)`)

// notice returns the text of NOTICE for programs that contain these packages.
func notice(packages []code) (string, error) {
	files := map[string]string{} // the text of each file by its name: the module, and its path there
	for _, p := range packages {
		if err := collect(p, files); err != nil {
			return "", err
		}
	}
	names := map[string][]string{} // by their text
	for _, name := range slices.Sorted(maps.Keys(files)) {
		names[files[name]] = append(names[files[name]], name)
	}
	byFirstName := func(a, b string) int { return strings.Compare(names[a][0], names[b][0]) }
	var out strings.Builder
	out.WriteString(head)
	for _, text := range slices.SortedFunc(maps.Keys(names), byFirstName) {
		fmt.Fprintf(&out, "\n%[1]s\n%[2]s\n%[1]s\n\n%[3]s", strings.Repeat("=", 80), strings.Join(names[text], "\n"), text)
	}
	return out.String(), nil
}

// collect adds the files about a package's terms: those of its folder, and of each folder above it in its module. So
// code that a module has from somewhere else comes with its own file.
func collect(p code, files map[string]string) error {
	name, top, folder := "Go", p.Root, p.Root
	switch {
	case !p.Standard && p.Module == nil:
		return fmt.Errorf("package %s has no module", p.ImportPath)
	case !p.Standard && p.Module.Main:
		return vendored(p, files) // the rest is ours: LICENSE
	case !p.Standard:
		name, top, folder = p.Module.Path, p.Module.Dir, p.Dir
	}
	for ; ; folder = filepath.Dir(folder) {
		if err := read(name, top, folder, files); err != nil {
			return err
		}
		if folder == top {
			break
		}
		if len(folder) < len(top) {
			return fmt.Errorf("package %s is not in the folder of its module, %s", p.ImportPath, top)
		}
	}
	for file := range files {
		if path.Dir(file) == name {
			return nil
		}
	}
	return fmt.Errorf("%s says nowhere in %s under which licence it is", name, top)
}

// vendored adds the files of the folders named vendored below a package of ours: what it embeds from elsewhere.
func vendored(p code, files map[string]string) error {
	folders, err := filepath.Glob(filepath.Join(p.Dir, "*", "vendored"))
	if err != nil {
		return fmt.Errorf("vendored files of %s: %w", p.ImportPath, err)
	}
	for _, folder := range folders {
		if err := read(p.ImportPath, p.Dir, folder, files); err != nil {
			return err
		}
	}
	return nil
}

// read adds the files of one folder.
func read(name, top, folder string, files map[string]string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("licence of %s: %w", name, err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !about.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return fmt.Errorf("licence of %s: %w", name, err)
		}
		below, err := filepath.Rel(top, filepath.Join(folder, entry.Name()))
		if err != nil {
			return fmt.Errorf("licence of %s: %w", name, err)
		}
		lines := strings.ReplaceAll(string(text), "\r\n", "\n")
		files[path.Join(name, filepath.ToSlash(below))] = strings.Trim(lines, "\n") + "\n"
	}
	return nil
}
