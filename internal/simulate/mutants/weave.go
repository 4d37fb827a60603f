package mutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Woven is a package that holds all its mutants at once. The environment variable NEXUS_MUTANT says which of them is
// on.
type Woven struct {
	Files map[string]string // the text of each file, and of one more, by its name
	// In says of each mutant, by its position in the list, whether it is in the package. A mutant of a constant, or of a
	// text, is not.
	In []bool
	// Texts says which mutants are of a + between texts: there is no - for texts, so they do not compile.
	Texts []bool
}

// switches is the file that a woven package has besides. A mutant is a number, its position in the list plus one. The
// file that NEXUS_REACHED names gets the numbers of those that were met.
const switches = `

import (
	"cmp"
	"os"
	"strconv"
	"sync"
)

var (
	mutantOn, _   = strconv.Atoi(os.Getenv("NEXUS_MUTANT"))
	mutantReached sync.Map
	mutantLog     = os.Getenv("NEXUS_REACHED")
)

func mutantIs(n int) bool {
	if mutantLog != "" && n != 0 {
		if _, met := mutantReached.LoadOrStore(n, true); !met {
			file, err := os.OpenFile(mutantLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, _ = file.WriteString(strconv.Itoa(n) + "\n")
				_ = file.Close()
			}
		}
	}
	return n != 0 && n == mutantOn
}

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutantADD[T mutantNumber](n, m int, x, y T) T { if mutantIs(n) || mutantIs(m) { return x - y }; return x + y }
func mutantSUB[T mutantNumber](n, m int, x, y T) T { if mutantIs(n) || mutantIs(m) { return x + y }; return x - y }
func mutantMUL[T mutantNumber](n, m int, x, y T) T { if mutantIs(n) || mutantIs(m) { return x / y }; return x * y }
func mutantQUO[T mutantNumber](n, m int, x, y T) T { if mutantIs(n) || mutantIs(m) { return x * y }; return x / y }

func mutantLSS[T cmp.Ordered](n, m int, x, y T) bool {
	if mutantIs(n) { return x >= y }; if mutantIs(m) { return x <= y }
	return x < y
}
func mutantLEQ[T cmp.Ordered](n, m int, x, y T) bool {
	if mutantIs(n) { return x > y }; if mutantIs(m) { return x < y }
	return x <= y
}
func mutantGTR[T cmp.Ordered](n, m int, x, y T) bool {
	if mutantIs(n) { return x <= y }; if mutantIs(m) { return x >= y }
	return x > y
}
func mutantGEQ[T cmp.Ordered](n, m int, x, y T) bool {
	if mutantIs(n) { return x < y }; if mutantIs(m) { return x > y }
	return x >= y
}
`

// helpers are the functions above, by the operator.
var helpers = map[token.Token]string{
	token.ADD: "mutantADD", token.SUB: "mutantSUB", token.MUL: "mutantMUL", token.QUO: "mutantQUO",
	token.LSS: "mutantLSS", token.LEQ: "mutantLEQ", token.GTR: "mutantGTR", token.GEQ: "mutantGEQ",
}

// Weave puts all mutants of the package in a folder into it. It changes no file.
func Weave(folder string, all []Mutant) (Woven, error) {
	out := Woven{Files: map[string]string{}, In: make([]bool, len(all)), Texts: make([]bool, len(all))}
	w := weaver{set: token.NewFileSet(), numbers: map[string]int{}, out: out}
	for i, m := range all {
		w.numbers[fmt.Sprintf("%s:%d:%d %s", m.File, m.Line, m.Column, m.Type)] = i + 1
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return Woven{}, fmt.Errorf("weave: %w", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(w.set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return Woven{}, fmt.Errorf("weave: %w", err)
		}
		files = append(files, file)
	}
	if err := w.check(folder, files); err != nil {
		return Woven{}, err
	}
	for i, file := range files {
		if w.source, err = os.ReadFile(names[i]); err != nil {
			return Woven{}, fmt.Errorf("weave: %w", err)
		}
		w.loops = loopControls(file)
		start := w.set.Position(file.Pos()).Offset
		w.out.Files[filepath.Base(names[i])] = string(w.source[:start]) + w.render(file) +
			string(w.source[w.set.Position(file.End()).Offset:])
	}
	w.out.Files["mutant_switches.go"] = "package " + files[0].Name.Name + switches
	return w.out, nil
}

type weaver struct {
	set     *token.FileSet
	info    types.Info
	numbers map[string]int // of the mutants, by place and type
	source  []byte         // of the file at work
	loops   map[*ast.BranchStmt]bool
	out     Woven
}

// check finds the types of all expressions, with what the compiler has written about the packages that are imported.
func (w *weaver) check(folder string, files []*ast.File) error {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	cmd.Dir = folder
	listed, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("weave: what %s imports: %w", folder, err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(listed)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[path] = file
		}
	}
	open := func(path string) (io.ReadCloser, error) {
		text, err := os.ReadFile(exports[path])
		return io.NopCloser(bytes.NewReader(text)), err
	}
	w.info.Types = map[ast.Expr]types.TypeAndValue{}
	config := types.Config{Importer: importer.ForCompiler(w.set, "gc", open)}
	if _, err := config.Check(folder, w.set, files, &w.info); err != nil {
		return fmt.Errorf("weave: %w", err)
	}
	return nil
}

// lookup returns the number of a mutant; 0 for none.
func (w *weaver) lookup(at token.Pos, kind string) int {
	place := w.set.Position(at)
	return w.numbers[fmt.Sprintf("%s:%d:%d %s", filepath.Base(place.Filename), place.Line, place.Column, kind)]
}

// number is that of a mutant, which is in the package from now on; 0 for none.
func (w *weaver) number(at token.Pos, kind string) int {
	n := w.lookup(at, kind)
	if n > 0 {
		w.out.In[n-1] = true
	}
	return n
}

// render is the text of a node with the mutants in it.
func (w *weaver) render(n ast.Node) string {
	var out strings.Builder
	at := w.set.Position(n.Pos()).Offset
	ast.Inspect(n, func(x ast.Node) bool {
		if x == nil {
			return false
		}
		text, ok := w.woven(x)
		if ok {
			out.Write(w.source[at:w.set.Position(x.Pos()).Offset])
			out.WriteString(text)
			at = w.set.Position(x.End()).Offset
		}
		return !ok
	})
	out.Write(w.source[at:w.set.Position(n.End()).Offset])
	return out.String()
}

// woven is the text of a node whose own operator has mutants; false if it has none.
func (w *weaver) woven(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return w.binary(n)
	case *ast.IncDecStmt:
		if number := w.number(n.TokPos, "INCREMENT_DECREMENT"); number > 0 {
			helper := map[token.Token]string{token.INC: "mutantADD", token.DEC: "mutantSUB"}[n.Tok]
			target := w.render(n.X)
			return fmt.Sprintf("%s = %s(%d, 0, %s, 1)", target, helper, number, target), true
		}
	case *ast.BranchStmt:
		other, ok := becomes["INVERT_LOOPCTRL"][n.Tok]
		if !ok || n.Label != nil || !w.loops[n] {
			return "", false
		}
		if number := w.number(n.TokPos, "INVERT_LOOPCTRL"); number > 0 {
			return fmt.Sprintf("if mutantIs(%d) { %s }; %s", number, other, n.Tok), true
		}
	}
	return "", false
}

func (w *weaver) binary(n *ast.BinaryExpr) (string, bool) {
	whole := w.info.Types[n]
	basic, _ := whole.Type.Underlying().(*types.Basic)
	isText := basic != nil && basic.Info()&types.IsString != 0
	if number := w.lookup(n.OpPos, "ARITHMETIC_BASE"); number > 0 && isText {
		w.out.Texts[number-1] = true
	}
	if whole.Value != nil {
		return "", false // nothing is computed here when the program runs
	}
	switch n.Op {
	case token.LAND, token.LOR:
		if number := w.number(n.OpPos, "INVERT_LOGICAL"); number > 0 {
			// x || y is !(!x && !y), so that the second is asked no more often than it would be.
			on := fmt.Sprintf("mutantIs(%d)", number)
			return fmt.Sprintf("(((%s) != %s %s (%s) != %s) != %s)", w.render(n.X), on, n.Op, w.render(n.Y), on, on), true
		}
	case token.EQL, token.NEQ:
		if number := w.number(n.OpPos, "CONDITIONALS_NEGATION"); number > 0 {
			return fmt.Sprintf("((%s %s %s) != mutantIs(%d))", w.render(n.X), n.Op, w.render(n.Y), number), true
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		negation, boundary := w.number(n.OpPos, "CONDITIONALS_NEGATION"), w.number(n.OpPos, "CONDITIONALS_BOUNDARY")
		if negation+boundary > 0 {
			return fmt.Sprintf("%s(%d, %d, %s, %s)", helpers[n.Op], negation, boundary, w.render(n.X), w.render(n.Y)), true
		}
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if basic == nil || basic.Info()&types.IsNumeric == 0 {
			return "", false
		}
		number, negative := w.number(n.OpPos, "ARITHMETIC_BASE"), w.number(n.OpPos, "INVERT_NEGATIVES")
		if number+negative > 0 {
			return fmt.Sprintf("%s(%d, %d, %s, %s)", helpers[n.Op], number, negative, w.render(n.X), w.render(n.Y)), true
		}
	}
	return "", false
}

// loopControls are the breaks and continues that have a loop around them in their function: both words compile there.
func loopControls(file *ast.File) map[*ast.BranchStmt]bool {
	out := map[*ast.BranchStmt]bool{}
	var stack []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		stack = append(stack, n)
		branch, ok := n.(*ast.BranchStmt)
		if !ok {
			return true
		}
		for _, around := range slices.Backward(stack) {
			switch around.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				out[branch] = true
			case *ast.FuncLit, *ast.FuncDecl:
			default:
				continue
			}
			break
		}
		return true
	})
	return out
}
