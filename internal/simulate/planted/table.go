package planted

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const head = "# Planted mistakes\n\n" +
	"Written by `make planted`; [simulation.md](simulation.md) says what it is. A row has what the last\n" +
	"run found that planted the mistake. *Histories* are those played until one of them broke an\n" +
	"invariant. *Seconds* are processor time on two cores, without the build. On a busy machine they are\n" +
	"about twice as many. A mistake that a test has to catch has no seed and no histories.\n\n" +
	"| mistake | rule it breaks | file | caught by | seed | histories | seconds |\n" +
	"| --- | --- | --- | --- | ---: | ---: | ---: |\n"

// Table is docs/planted.md, in the order of the mistakes: a row for each that was hunted for, by its name, and for the
// others the one that the former table has.
func Table(mistakes []Mistake, caught map[string]Catch, former string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, m := range mistakes {
		if c, ok := caught[m.Name]; ok {
			b.WriteString(m.row(c))
			continue
		}
		for line := range strings.Lines(former) {
			if strings.HasPrefix(line, "| "+m.Name+" |") {
				b.WriteString(line)
			}
		}
	}
	return b.String()
}

func (m Mistake) row(c Catch) string {
	by, seed, histories := c.Invariant, fmt.Sprint(c.Seed), fmt.Sprint(c.Histories)
	if !c.Caught {
		by, seed = "**nothing**", ""
	}
	if m.Test != (Test{}) {
		seed, histories = "", ""
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %.1f |\n", m.Name, strings.ReplaceAll(m.Rule, "|", `\|`),
		strings.Join(m.files(), ", "), by, seed, histories, c.Took.Seconds())
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
