package census

import (
	"errors"
	"fmt"

	"nexus/internal/simulate/rig"
)

// ErrList says that the document's list of branches cannot be read.
var ErrList = errors.New("the list of branches that are never reached")

// ReadList reads the list of unreached branches, with the reason of each, from its document.
func ReadList(document string) (map[Place]string, error) {
	rows, err := rig.ReadTable(document, "file", "function", "branch", "why the simulation never reaches it")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrList, err)
	}
	out := map[Place]string{}
	for _, row := range rows {
		place, reason := Place{row[0], row[1], row[2]}, row[3]
		if _, twice := out[place]; twice || reason == "" || reason == unexplained {
			return nil, fmt.Errorf("%w: twice, or without a reason: %q", ErrList, row)
		}
		out[place] = reason
	}
	return out, nil
}

// unexplained marks a missing reason.
const unexplained = "?"

// Line is a branch as a line of the list, its reason still to be written.
func (b Branch) Line() string {
	return rig.Row(b.File, b.Function, "`"+b.Text+"`", unexplained)
}
