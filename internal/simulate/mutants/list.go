package mutants

import (
	"fmt"
	"strings"
)

// columns is how the list of equivalent mutants begins in the document.
const columns = "| mutant | line | why it does what the code does |\n| --- | --- | --- |\n"

// Equivalent are the mutants that do what the code does, with the reason of each: by file and type, and by the text of
// the line, so that an edit elsewhere in the file leaves them as they are.
type Equivalent map[string]string

// ReadEquivalent reads the list from the document that holds it.
func ReadEquivalent(document string) (Equivalent, error) {
	_, table, found := strings.Cut(document, columns)
	if !found {
		return nil, fmt.Errorf("%w: the document has no list of equivalent mutants", ErrReport)
	}
	out := Equivalent{}
	for line := range strings.SplitSeq(table, "\n") {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 5 || strings.TrimSpace(cells[3]) == "" {
			return nil, fmt.Errorf("%w: %q has no mutant, line and reason", ErrReport, line)
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.ReplaceAll(cells[i], "\x00", "|"), " `")
		}
		out[cells[1]+" "+cells[2]] = cells[3]
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
	return fmt.Sprintf("| %s: | `%s` | |", name, strings.ReplaceAll(line, "|", `\|`))
}

func key(pkg string, m Mutant, source []byte) string {
	lines := strings.Split(string(source), "\n")
	if m.Line > len(lines) {
		return ""
	}
	return fmt.Sprintf("%s/%s %s: %s", pkg, m.File, m.Type, strings.TrimSpace(lines[m.Line-1]))
}
