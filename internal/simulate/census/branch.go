package census

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"

	"nexus/pkg/text"
)

// conflict matches the names that the code uses for a conflict: a condition that did not hold, a transaction that met
// another, a lease, and work that is given up because of repeated changes.
var conflict = regexp.MustCompile(
	`\b(ConditionError|failed|ErrConflict|[eE]rrLeased|ErrLeaseLost|errContended|ErrUnstable|` +
		`ErrUnfinished|already|again|isPast|leased|stable)\b`)

// maxText bounds the text of a branch.
const maxText = 110

// region is a part of a function that is entered as a whole.
type region struct {
	header   string
	body     []ast.Stmt
	from, to Position
}

type reader struct {
	file     string
	function string
	source   []byte
	set      *token.FileSet
	blocks   []Block
	claimed  []bool // by block: it belongs to a branch that is in the list
	out      []Branch
	passed   []Place // executed code after branches: it is then no branch
}

// branchesOf returns the branches of one file, those that were executed and those that were not.
func branchesOf(file string, source []byte, blocks []Block) ([]Branch, []Place, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, fmt.Errorf("read the source of the profile: %w", err)
	}
	r := reader{file: file, source: source, set: set, blocks: blocks, claimed: make([]bool, len(blocks))}
	for _, decl := range tree.Decls {
		r.function = ""
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			r.function = f.Name.Name
			r.enter(region{"func", f.Body.List, r.at(f.Body.Pos()), r.at(f.Body.End())})
			continue
		}
		r.inside(decl)
	}
	return r.out, r.passed, nil
}

func (r *reader) at(pos token.Pos) Position {
	p := r.set.Position(pos)
	return Position{p.Line, p.Column}
}

// text returns a part of the source on one line.
func (r *reader) text(from, to token.Pos) string {
	return strings.Join(strings.Fields(string(r.source[r.set.Position(from).Offset:r.set.Position(to).Offset])), " ")
}

// enter adds a region: as one branch that was not executed if none of it was, else it and those within it.
func (r *reader) enter(in region) {
	of := r.blocksIn(in.from, in.to)
	if len(of) == 0 {
		return // it contains no executable code
	}
	executed := false
	for _, i := range of {
		executed = executed || r.blocks[i].Count > 0
	}
	r.add(in, executed)
	if !executed {
		for _, i := range of {
			r.claimed[i] = true
		}
		return
	}
	for _, stmt := range in.body {
		r.inside(stmt)
	}
	r.rest(in, of)
}

// rest adds the rest of a region after a branch that never returns to it.
func (r *reader) rest(in region, of []int) {
	for _, stmt := range in.body {
		from := r.at(stmt.Pos())
		behind := region{header: "behind", body: []ast.Stmt{stmt}}
		r.passed = append(r.passed, Place{r.file, r.function, r.name(behind)})
		for _, i := range of {
			b := r.blocks[i]
			if r.claimed[i] || b.Count > 0 || from.before(b.From) || !from.before(b.To) {
				continue
			}
			r.claimed[i] = true
			r.add(behind, false)
		}
	}
}

func (r *reader) add(in region, executed bool) {
	whole := in.header
	if len(in.body) > 0 {
		whole += " " + r.text(in.body[0].Pos(), in.body[len(in.body)-1].End())
	}
	r.out = append(r.out, Branch{r.file, r.function, r.name(in), conflict.MatchString(whole), executed})
}

// name is the text of a region.
func (r *reader) name(in region) string {
	name := in.header
	if len(in.body) > 0 {
		name += " { " + r.text(in.body[0].Pos(), in.body[0].End())
	}
	return text.Clip(name, maxText)
}

func (r *reader) blocksIn(from, to Position) []int {
	var out []int
	for i, b := range r.blocks {
		if !b.From.before(from) && !to.before(b.To) {
			out = append(out, i)
		}
	}
	return out
}

// inside enters the regions within a node, each once.
func (r *reader) inside(node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			r.conditional(n)
			return false
		case *ast.ForStmt:
			r.enter(region{r.text(n.Pos(), n.Body.Pos()), n.Body.List, r.at(n.Body.Pos()), r.at(n.Body.End())})
			return false
		case *ast.RangeStmt:
			r.enter(region{r.text(n.Pos(), n.Body.Pos()), n.Body.List, r.at(n.Body.Pos()), r.at(n.Body.End())})
			return false
		case *ast.CaseClause:
			r.clause(n, n.Colon, n.Body)
			return false
		case *ast.CommClause:
			r.clause(n, n.Colon, n.Body)
			return false
		case *ast.FuncLit:
			r.enter(region{"func literal", n.Body.List, r.at(n.Body.Pos()), r.at(n.Body.End())})
			return false
		}
		return true
	})
}

func (r *reader) conditional(n *ast.IfStmt) {
	if n.Init != nil {
		r.inside(n.Init)
	}
	r.inside(n.Cond)
	header := r.text(n.Pos(), n.Body.Pos())
	r.enter(region{header, n.Body.List, r.at(n.Body.Pos()), r.at(n.Body.End())})
	switch other := n.Else.(type) {
	case *ast.IfStmt:
		r.conditional(other)
	case *ast.BlockStmt:
		r.enter(region{"else of " + header, other.List, r.at(other.Pos()), r.at(other.End())})
	}
}

func (r *reader) clause(n ast.Node, colon token.Pos, body []ast.Stmt) {
	r.enter(region{r.text(n.Pos(), colon), body, r.at(n.Pos()), r.at(n.End())})
}
