package census

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Block is one line of a coverage profile: a run of statements that is executed whole or not at all.
type Block struct {
	File       string // under pkg, with slashes
	From, To   Position
	Statements int
	Count      int
}

// Position is a line and a column, both from 1.
type Position struct{ Line, Column int }

func (p Position) before(q Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

// ErrProfile says that the text is no coverage profile.
var ErrProfile = errors.New("not a coverage profile")

// underPkg begins the files of the module's packages in a profile.
const underPkg = "nexus/pkg/"

// ReadProfile reads the text form of a profile (go tool covdata textfmt) and returns the blocks of the packages.
func ReadProfile(text []byte, packages []string) ([]Block, error) {
	var out []Block
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 && strings.HasPrefix(line, "mode: ") {
			continue
		}
		b, err := readBlock(line)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrProfile, n, err)
		}
		if name, _, _ := strings.Cut(b.File, "/"); slices.Contains(packages, name) {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: nothing of %v", ErrProfile, packages)
	}
	return out, lines.Err()
}

// readBlock reads "file:line.column,line.column statements count".
func readBlock(line string) (Block, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return Block{}, fmt.Errorf("%q has %d fields, want 3", line, len(fields))
	}
	file, span, _ := strings.Cut(fields[0], ":")
	from, to, _ := strings.Cut(span, ",")
	b := Block{File: strings.TrimPrefix(file, underPkg)}
	var errs [4]error
	b.From, errs[0] = readPosition(from)
	b.To, errs[1] = readPosition(to)
	b.Statements, errs[2] = strconv.Atoi(fields[1])
	b.Count, errs[3] = strconv.Atoi(fields[2])
	return b, errors.Join(errs[:]...)
}

func readPosition(text string) (p Position, err error) {
	line, column, _ := strings.Cut(text, ".")
	if p.Line, err = strconv.Atoi(line); err != nil {
		return p, fmt.Errorf("position %q: %w", text, err)
	}
	if p.Column, err = strconv.Atoi(column); err != nil {
		return p, fmt.Errorf("position %q: %w", text, err)
	}
	return p, nil
}
