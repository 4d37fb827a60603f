package lint_test

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// walked is the package whose engines TestWalk walks through.
const walked = "pkg/projection"

// TestWalk holds the number of returns of a walk from the method apply of an engine of pkg/projection, the worst of
// them. An engine is a type whose name ends in Engine; while there is none, it is any type with an exported Apply.
//
// A walk visits the body of each function of the package once, depth first, in the order of the source. A call through
// an interface visits every implementation in the package. A return is a step into a file that an earlier step has
// left: it makes a reader turn back a page.
func TestWalk(t *testing.T) {
	t.Parallel()
	index := slices.IndexFunc(modulePackages(t), func(p pkg) bool { return p.path == walked })
	require.GreaterOrEqual(t, index, 0, walked)
	w := newWalker(t, modulePackages(t)[index])
	worst := 0
	for _, engine := range w.engines() {
		w.visited, w.steps = map[*types.Func]bool{}, nil
		w.visit(engine)
		returns, files := w.returns()
		t.Logf("from %s: %d functions in %d files, %d returns", engine.FullName(), len(w.steps), files, returns)
		for _, step := range w.steps {
			t.Logf("  %s %s", w.fileOf(step), step.Name())
		}
		worst = max(worst, returns)
	}
	holdNumber(t, "returns-of-a-walk", worst)
}

// walker visits functions of one package.
type walker struct {
	set     *token.FileSet
	info    *types.Info
	scope   *types.Scope
	bodies  map[*types.Func]*ast.FuncDecl
	visited map[*types.Func]bool
	steps   []*types.Func
}

// newWalker checks the types of the package against export data, which the build cache has of everything it imports.
func newWalker(t *testing.T, p pkg) *walker {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}", "./"+p.path)
	command.Dir = root
	var complaints bytes.Buffer
	command.Stderr = &complaints
	list, err := command.Output()
	require.NoError(t, err, complaints.String())
	exports := map[string]string{}
	for text := range strings.Lines(string(list)) {
		imported, name, _ := strings.Cut(strings.TrimSpace(text), " ")
		exports[imported] = name
	}
	set := loaded(t).set
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(imported string) (io.ReadCloser, error) {
		return os.Open(exports[imported])
	})}
	w := &walker{set: set, bodies: map[*types.Func]*ast.FuncDecl{}}
	w.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	var trees []*ast.File
	for _, f := range p.files {
		trees = append(trees, f.tree)
	}
	checked, err := config.Check(module+"/"+p.path, set, trees, w.info)
	require.NoError(t, err)
	w.scope = checked.Scope()
	for _, f := range p.files {
		for _, d := range f.declared() {
			if declared, ok := d.node.(*ast.FuncDecl); ok && declared.Body != nil {
				w.bodies[w.info.Defs[declared.Name].(*types.Func)] = declared
			}
		}
	}
	return w
}

// engines are the methods that a walk starts from.
func (w *walker) engines() []*types.Func {
	var doors, engines []*types.Func
	for f := range w.bodies {
		receiver, method := receiverType(f), strings.ToLower(f.Name()) == "apply"
		switch {
		case !method || receiver == "":
		case strings.HasSuffix(receiver, "Engine"):
			engines = append(engines, f)
		case f.Exported():
			doors = append(doors, f)
		}
	}
	if len(engines) > 0 {
		doors = engines
	}
	slices.SortFunc(doors, w.inSource)
	return doors
}

func receiverType(f *types.Func) string {
	receiver := f.Signature().Recv()
	if receiver == nil {
		return ""
	}
	of := receiver.Type()
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	if named, ok := of.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

func (w *walker) visit(f *types.Func) {
	declared := w.bodies[f]
	if declared == nil || w.visited[f] {
		return
	}
	w.visited[f] = true
	w.steps = append(w.steps, f)
	var called []*ast.Ident
	ast.Inspect(declared.Body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			called = append(called, nameOf(call)...)
		}
		return true
	})
	// A chain a().b() has the call of b outside; in the source a is first.
	slices.SortFunc(called, func(a, b *ast.Ident) int { return cmp.Compare(a.Pos(), b.Pos()) })
	for _, name := range called {
		for _, callee := range w.callees(name) {
			w.visit(callee)
		}
	}
}

// nameOf is the name of what is called, if it has one.
func nameOf(call *ast.CallExpr) []*ast.Ident {
	switch called := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return []*ast.Ident{called}
	case *ast.SelectorExpr:
		return []*ast.Ident{called.Sel}
	}
	return nil
}

// callees are the functions that a call may reach: one, or every implementation of a method of an interface.
func (w *walker) callees(name *ast.Ident) []*types.Func {
	f, ok := w.info.Uses[name].(*types.Func)
	if !ok {
		return nil
	}
	f = f.Origin()
	receiver := f.Signature().Recv()
	if receiver == nil || !types.IsInterface(receiver.Type()) {
		return []*types.Func{f}
	}
	return w.implementations(receiver.Type().Underlying().(*types.Interface), f)
}

func (w *walker) implementations(port *types.Interface, method *types.Func) []*types.Func {
	var out []*types.Func
	for _, name := range w.scope.Names() {
		declared, ok := w.scope.Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(declared.Type()) {
			continue
		}
		pointer := types.NewPointer(declared.Type())
		if !types.Implements(pointer, port) {
			continue
		}
		found, _, _ := types.LookupFieldOrMethod(pointer, true, method.Pkg(), method.Name())
		if f, ok := found.(*types.Func); ok {
			out = append(out, f.Origin())
		}
	}
	slices.SortFunc(out, w.inSource)
	return slices.Compact(out)
}

func (w *walker) inSource(a, b *types.Func) int {
	return cmp.Or(strings.Compare(w.fileOf(a), w.fileOf(b)), cmp.Compare(a.Pos(), b.Pos()))
}

func (w *walker) fileOf(f *types.Func) string { return w.set.Position(f.Pos()).Filename }

// returns counts the steps into a file that an earlier step has left, and the files.
func (w *walker) returns() (returns, files int) {
	seen := map[string]bool{}
	current := ""
	for _, step := range w.steps {
		name := w.fileOf(step)
		if name != current && seen[name] {
			returns++
		}
		current, seen[name] = name, true
	}
	return returns, len(seen)
}
