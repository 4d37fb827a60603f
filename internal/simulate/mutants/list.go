package mutants

import (
	"fmt"
	"strings"

	"nexus/internal/simulate/rig"
)

// Equivalent are the mutants that do what the code does, with the reason of each: by file and type, and by the text of
// the line, so that an edit elsewhere in the file leaves them as they are.
type Equivalent map[string]string

// ReadEquivalent reads the list from its document.
func ReadEquivalent(document string) (Equivalent, error) {
	rows, err := rig.ReadTable(document, "mutant", "line", "why it does what the code does")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReport, err)
	}
	out := Equivalent{}
	for _, row := range rows {
		if row[2] == "" {
			return nil, fmt.Errorf("%w: %q has no reason", ErrReport, row)
		}
		out[row[0]+" "+row[1]] = row[2]
	}
	return out, nil
}

// Has says that a mutant of a package, whose file has the source, is in the list.
func (e Equivalent) Has(pkg string, m Mutant, source []byte) bool {
	return e[key(pkg, m, source)] != ""
}

// Row is a mutant as a row of the list, its reason still to be written.
func Row(pkg string, m Mutant, source []byte) string {
	name, line, _ := strings.Cut(key(pkg, m, source), ": ")
	return rig.Row(name+":", "`"+line+"`", "")
}

func key(pkg string, m Mutant, source []byte) string {
	lines := strings.Split(string(source), "\n")
	if m.Line > len(lines) {
		return ""
	}
	return fmt.Sprintf("%s/%s %s: %s", pkg, m.File, m.Type, strings.TrimSpace(lines[m.Line-1]))
}
