package census

import (
	"errors"
	"fmt"
	"strings"
)

// ErrList: the document's list of branches cannot be read.
var ErrList = errors.New("the list of branches that are never reached")

// columns is how the list begins in the document.
const columns = "| file | function | branch | why the simulation never reaches it |"

const underColumns = "| --- | --- | --- | --- |"

// ReadList reads the list of branches that are never reached, with the reason of each, from the document that holds it.
func ReadList(document string) (map[Place]string, error) {
	_, table, found := strings.Cut(document, columns+"\n"+underColumns+"\n")
	if !found {
		return nil, fmt.Errorf("%w: no line %q", ErrList, columns)
	}
	out := map[Place]string{}
	for line := range strings.SplitSeq(table, "\n") {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 6 {
			return nil, fmt.Errorf("%w: %d cells in %q, want 4", ErrList, len(cells)-2, line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
		}
		place, reason := Place{cells[1], cells[2], strings.Trim(cells[3], "`")}, cells[4]
		if _, twice := out[place]; twice || reason == "" || reason == unexplained {
			return nil, fmt.Errorf("%w: twice, or without a reason: %q", ErrList, line)
		}
		out[place] = reason
	}
	return out, nil
}

// unexplained stands where a reason has to be written.
const unexplained = "?"

// Line is a branch as a line of the list, its reason still to be written.
func (b Branch) Line() string {
	return fmt.Sprintf("| %s | %s | `%s` | %s |", b.File, b.Function, strings.ReplaceAll(b.Text, "|", `\|`), unexplained)
}
