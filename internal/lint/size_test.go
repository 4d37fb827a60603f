package lint_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// exportedNames are the exported names that a package declares at its top level. Methods and fields do not count.
func (p pkg) exportedNames() []string {
	var out []string
	for _, f := range p.files {
		for _, d := range f.declared() {
			if d.receiver == "" && ast.IsExported(d.name) {
				out = append(out, d.name)
			}
		}
	}
	return out
}

// TestExportedNames holds the number of exported names of the biggest package. With -v it prints that of each.
func TestExportedNames(t *testing.T) {
	t.Parallel()
	biggest := 0
	for _, p := range loaded(t).packages {
		count := len(p.exportedNames())
		t.Logf("%4d %s", count, p.path)
		biggest = max(biggest, count)
	}
	holdNumber(t, "exported-names", biggest)
}

// mostImporters bounds the packages that import pkg/entity. It is no ceiling that goes down further: a new consumer of
// the stream needs room.
const mostImporters = 36

// TestFanIn bounds the number of packages outside pkg/entity, those of infra included, whose code without tests imports
// it or a package below it.
func TestFanIn(t *testing.T) {
	t.Parallel()
	var importers []hit
	for _, p := range loaded(t).packages {
		if places := p.importsOfEntity(loaded(t).set); !under(p.path, "pkg/entity") && len(places) > 0 {
			// A package that imported it on main is not new, whichever of its files does so now.
			importers = append(importers, places[max(0, slices.IndexFunc(places, hit.isOnMain))])
		}
	}
	t.Logf("importers of pkg/entity: %d, at most %d", len(importers), mostImporters)
	assert.LessOrEqual(t, len(importers), mostImporters, "another package has to do without pkg/entity")
	list(t, len(importers) <= mostImporters, importers)
}

// importsOfEntity are the places where the package imports pkg/entity or a package below it.
func (p pkg) importsOfEntity(set *token.FileSet) []hit {
	var out []hit
	for _, f := range p.files {
		for _, spec := range f.tree.Imports {
			if under(strings.Trim(spec.Path.Value, `"`), module+"/pkg/entity") {
				out = append(out, hit{f.path, set.Position(spec.Pos()).Line, spec.Path.Value})
			}
		}
	}
	return out
}

// TestPrograms holds the list of programs below pkg and functions/internal. There are to be none.
func TestPrograms(t *testing.T) {
	t.Parallel()
	var found []string
	for _, p := range loaded(t).packages {
		if p.name() == "main" && underAny(p.path, "pkg", "functions/internal") {
			found = append(found, p.path)
		}
	}
	holdList(t, "program", found)
}

// TestDirections holds the list of imports that run the wrong way, "importer > imported": from production code of pkg
// into functions, cmd or internal, and from anywhere else into functions. There are to be none.
func TestDirections(t *testing.T) {
	t.Parallel()
	var found []string
	for _, p := range loaded(t).packages {
		for _, imported := range p.imports() {
			target, ours := strings.CutPrefix(imported, module+"/")
			fromPkg := under(p.path, "pkg") && underAny(target, "functions", "cmd", "internal")
			intoFunctions := !under(p.path, "functions") && under(target, "functions")
			if ours && (fromPkg || intoFunctions) {
				found = append(found, p.path+" > "+target)
			}
		}
	}
	holdList(t, "import", found)
}

// declaration is one name that a file declares: at its top level, or as a method or field of a type.
type declaration struct {
	name     string
	receiver string // the type of a method or field
	node     ast.Node
}

func (f *file) declared() []declaration {
	var out []declaration
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, declaration{d.Name.Name, receiverOf(d), d})
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				out = append(out, declaredBy(d)...)
			}
		}
	}
	return out
}

func declaredBy(d *ast.GenDecl) []declaration {
	var out []declaration
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range s.Names {
				out = append(out, declaration{name.Name, "", s})
			}
		case *ast.TypeSpec:
			out = append(out, declaration{s.Name.Name, "", s})
			out = append(out, members(s)...)
		}
	}
	return out
}

// members are the fields of a struct and the methods of an interface.
func members(s *ast.TypeSpec) []declaration {
	var fields *ast.FieldList
	switch body := s.Type.(type) {
	case *ast.StructType:
		fields = body.Fields
	case *ast.InterfaceType:
		fields = body.Methods
	default:
		return nil
	}
	var out []declaration
	for _, field := range fields.List {
		for _, name := range field.Names {
			out = append(out, declaration{name.Name, s.Name.Name, field})
		}
	}
	return out
}

// receiverOf is the name of the type that a method belongs to, "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name
}
