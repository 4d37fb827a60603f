package lint_test

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const lifeOfAWrite = "docs/life-of-a-write.md"

// symbolLink finds a link such as [`pkg/table.Store.Put`](../pkg/table/store.go): a package, a name in it, and the file
// that declares it.
var symbolLink = regexp.MustCompile("\\[`([a-z][a-z0-9/]*)\\.(\\w+(?:\\.\\w+)?)`\\]\\(\\.\\./([^)]*)\\)")

// step begins a numbered step of a chapter.
var step = regexp.MustCompile(`(?m)^\d+\. `)

func TestLifeOfAWrite_namesTheFilesOfItsSymbols(t *testing.T) {
	t.Parallel()
	text := atRoot(t, lifeOfAWrite)
	declared := map[string]map[string]string{}
	for _, p := range loaded(t).packages {
		declared[p.path] = p.symbols()
	}
	links := symbolLink.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, links)
	require.Equal(t, strings.Count(text, "](../pkg")+strings.Count(text, "](../functions"), len(links),
		"a link to a package that names no symbol in the form of the others")
	for _, link := range links {
		folder, symbol, target := link[1], link[2], link[3]
		require.Contains(t, declared, folder, "%s names a package that is not there", lifeOfAWrite)
		require.NotEmpty(t, declared[folder][symbol], "%s names %s.%s, which is not there: say what the step is done by now",
			lifeOfAWrite, folder, symbol)
		require.Equal(t, declared[folder][symbol], target, "the link of %s.%s leads elsewhere", folder, symbol)
	}
}

func TestLifeOfAWrite_linksASymbolInEachStep(t *testing.T) {
	t.Parallel()
	chapters := strings.Split(atRoot(t, lifeOfAWrite), "\n## ")[1:]
	require.Len(t, chapters, 3, "a create, a statistic, a reminder")
	for _, chapter := range chapters {
		title, text, _ := strings.Cut(chapter, "\n")
		_, diagram, found := strings.Cut(text, "```\n")
		require.True(t, found, "%s has a diagram", title)
		_, text, found = strings.Cut(diagram, "```\n")
		require.True(t, found, title)
		text, _, _ = strings.Cut(text, "\n### ")
		steps := step.Split(text, -1)[1:]
		require.Greater(t, len(steps), 5, title)
		for i, s := range steps {
			require.Regexp(t, symbolLink, s, "%s, step %d", title, i+1)
		}
	}
}

// symbols are the names that the package declares, with the file of each: functions, types, variables, constants, and
// Type.Method, also of interfaces.
func (p pkg) symbols() map[string]string {
	names := map[string]string{}
	for _, f := range p.files {
		for _, declaration := range f.tree.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				names[receiver(d)+d.Name.Name] = f.path
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(names, spec, f.path)
				}
			}
		}
	}
	return names
}

func addSpec(names map[string]string, spec ast.Spec, path string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names[name.Name] = path
		}
	case *ast.TypeSpec:
		names[s.Name.Name] = path
		if i, ok := s.Type.(*ast.InterfaceType); ok {
			for _, method := range i.Methods.List {
				for _, name := range method.Names {
					names[s.Name.Name+"."+name.Name] = path
				}
			}
		}
	}
}

// receiver is the type of a method with a dot; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
