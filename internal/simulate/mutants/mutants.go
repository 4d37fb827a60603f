// Package mutants tells what becomes of the mutants that a mutation tester found: which are killed by the tests, which
// by the simulation, and which by neither.
//
// The tester is gremlins, which lists the mutants of a package. All of them are built into one program, in which each
// is switched on by itself, tested, and then played against the simulation. What cannot be switched, such as a
// constant, is built by itself. Overlays show the mutants to the compiler, as they do with planted mistakes.
//
// It promises that no mutant is counted as killed unless a test failed or a history broke an invariant. It must never
// change the tree.
package mutants

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
)

// Mutant is one change of one operator.
type Mutant struct {
	File         string // in its package
	Type         string // as gremlins names it, such as CONDITIONALS_NEGATION
	Line, Column int
}

func (m Mutant) String() string { return fmt.Sprintf("%s:%d:%d %s", m.File, m.Line, m.Column, m.Type) }

// notViable is the status of a mutant that does not compile.
const notViable = "NOT VIABLE"

// ErrReport: the text is no report of gremlins.
var ErrReport = errors.New("not a report of mutants")

// Read reads a report of gremlins (its option -o). Mutants that do not compile are none.
func Read(report []byte) ([]Mutant, error) {
	var in struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type   string `json:"type"`
				Status string `json:"status"`
				Line   int    `json:"line"`
				Column int    `json:"column"`
			} `json:"mutations"`
		} `json:"files"`
	}
	if err := json.Unmarshal(report, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	var out []Mutant
	for _, file := range in.Files {
		for _, m := range file.Mutations {
			if m.Status != notViable {
				out = append(out, Mutant{file.Name, m.Type, m.Line, m.Column})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: it has no mutants", ErrReport)
	}
	return out, nil
}

// Matching returns the mutants that a pattern matches, such as ^hold\.go:(12|40): of those in two lines of a file.
func Matching(all []Mutant, pattern string) ([]Mutant, error) {
	only, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern of mutants: %w", err)
	}
	out := slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool { return !only.MatchString(m.String()) })
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: none of %d mutants matches %q", ErrReport, len(all), pattern)
	}
	return out, nil
}

// becomes maps the types of mutants to their replacement of an operator.
var becomes = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
		token.REM: token.MUL},
	"CONDITIONALS_BOUNDARY": {token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR},
	"CONDITIONALS_NEGATION": {
		token.EQL: token.NEQ, token.NEQ: token.EQL,
		token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	},
	"INCREMENT_DECREMENT": {token.INC: token.DEC, token.DEC: token.INC},
	"INVERT_LOGICAL":      {token.LAND: token.LOR, token.LOR: token.LAND},
	"INVERT_LOOPCTRL":     {token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK},
	"INVERT_NEGATIVES":    {token.SUB: token.ADD},
}

// ErrPlace: the source has no operator of the mutant's type at its place.
var ErrPlace = errors.New("nothing to mutate there")

// Apply returns the source with the mutant in it. It changes the operator in the syntax tree, as gremlins does: the
// operator keeps its operands whatever binds more strongly, so the first && of a && b && c becomes (a || b) && c.
func (m Mutant) Apply(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, m.File, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", m, err)
	}
	isMutated := false
	ast.Inspect(file, func(n ast.Node) bool {
		operator, pos := operatorOf(n)
		if operator == nil {
			return true
		}
		at := set.Position(pos)
		if other, ok := becomes[m.Type][*operator]; ok && at.Line == m.Line && at.Column == m.Column {
			*operator, isMutated = other, true
		}
		return !isMutated
	})
	if !isMutated {
		return nil, fmt.Errorf("%w: %s", ErrPlace, m)
	}
	var out bytes.Buffer
	if err := printer.Fprint(&out, set, file); err != nil {
		return nil, fmt.Errorf("mutate %s: %w", m, err)
	}
	return out.Bytes(), nil
}

// operatorOf returns the operator of a node and its place; nil if the node has none.
func operatorOf(n ast.Node) (*token.Token, token.Pos) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return &n.Op, n.OpPos
	case *ast.UnaryExpr:
		return &n.Op, n.OpPos
	case *ast.IncDecStmt:
		return &n.Tok, n.TokPos
	case *ast.BranchStmt:
		return &n.Tok, n.TokPos
	}
	return nil, token.NoPos
}

// Fate is the outcome of a mutant.
type Fate int

const (
	Survived     Fate = iota
	ByTests           // killed by a test
	BySimulation      // by no test, but by a history
	NoMutant          // it does not compile
)

// Tally is the line of a package.
type Tally struct {
	Package                                 string
	Mutants, Tests, Simulation, Equivalents int
	Survivors                               []Mutant
}

// Count adds a mutant. Equivalent says that the document gives a reason why it does what the code does.
func (t *Tally) Count(m Mutant, f Fate, equivalent bool) {
	if f == NoMutant {
		return
	}
	t.Mutants++
	switch {
	case f == ByTests:
		t.Tests++
	case f == BySimulation:
		t.Simulation++
	case equivalent:
		t.Equivalents++
	default:
		t.Survivors = append(t.Survivors, m)
	}
}

// Killed is the share of the mutants that are not equivalent, in percent, that are killed.
func (t *Tally) Killed() float64 {
	return 100 * float64(t.Tests+t.Simulation) / float64(max(1, t.Mutants-t.Equivalents))
}

// Line is the package's line in the document's table. A package without mutants has no share.
func (t *Tally) Line() string {
	share := "-"
	if t.Mutants > 0 {
		share = fmt.Sprintf("%.1f %%", t.Killed())
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %s |",
		t.Package, t.Mutants, t.Tests, t.Simulation, t.Equivalents, len(t.Survivors), share)
}
