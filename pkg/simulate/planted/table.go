package planted

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Table is docs/planted.md: each mistake with what caught it, in their order.
func Table(mistakes []Mistake, caught []Catch) string {
	var b strings.Builder
	b.WriteString("# Planted mistakes\n\nWritten by `make planted`; [simulation.md](simulation.md) says what it is. " +
		"Histories are those played until the first of them broke an invariant;\nseconds are processor time on two cores, without that of the build, and on a machine that is busy with other things\nabout twice what they are on one that is not.\n\n" +
		"| mistake | rule it breaks | file | caught by | seed | histories | seconds |\n| --- | --- | --- | --- | ---: | ---: | ---: |\n")
	for i, m := range mistakes {
		c := caught[i]
		if !c.Caught {
			c.Invariant = "**nothing**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %d | %.1f |\n",
			m.Name, strings.ReplaceAll(m.Rule, "|", `\|`), strings.Join(m.files(), ", "), c.Invariant, c.Seed, c.Histories, c.Took.Seconds())
	}
	return b.String()
}

// files are the mistake's, below pkg.
func (m Mistake) files() []string {
	var out []string
	for _, e := range m.Edits {
		name := strings.TrimPrefix(path.Clean(e.File), "pkg/")
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
