package lint_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var writeCeilings = flag.Bool("write-ceilings", false, "lower each ceiling to today's figure")

const ceilingsFile = "testdata/ceilings.txt"

// ceilingLine is "measure value". A measure has one number, or one line for each thing that it still allows.
var ceilingLine = regexp.MustCompile(`^([a-z-]+) +(.+)$`)

// lowered has the figures and lists of this run that are below their ceilings.
var lowered = struct {
	sync.Mutex
	numbers map[string]int
	lists   map[string][]string
}{numbers: map[string]int{}, lists: map[string][]string{}}

// ceilings are the values of one measure in the file.
func ceilings(t *testing.T, measure string) []string {
	t.Helper()
	text, err := os.ReadFile(ceilingsFile)
	require.NoError(t, err)
	var values []string
	for line := range strings.Lines(string(text)) {
		if m := ceilingLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil && m[1] == measure {
			values = append(values, m[2])
		}
	}
	return values
}

// hit is one thing that a measure counts.
type hit struct {
	path string
	line int // 0 for a whole file or folder
	what string
}

func (h hit) String() string {
	if h.line == 0 {
		return h.path + ": " + h.what
	}
	return fmt.Sprintf("%s:%d: %s", h.path, h.line, h.what)
}

// holdCount fails if there are more hits than the ceiling says.
func holdCount(t *testing.T, measure string, hits []hit) {
	t.Helper()
	list(t, holdNumber(t, measure, len(hits)), hits)
}

// list logs the hits: all with -v, and the new ones if there are too many.
func list(t *testing.T, holds bool, hits []hit) {
	t.Helper()
	if !holds {
		hits = slices.DeleteFunc(hits, hit.isOnMain)
		t.Log("new since main:")
	} else if !testing.Verbose() {
		return
	}
	for _, h := range hits {
		t.Log(h)
	}
}

// isOnMain reports whether the branch main has the text of the hit in the same file.
func (h hit) isOnMain() bool {
	if h.line == 0 {
		return false
	}
	before, changed := changedSinceMain()[h.path]
	return !changed || strings.Contains(before, h.what)
}

// changedSinceMain has the text on main of each file that the branch changed, "" for a new one.
var changedSinceMain = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	changed := git("diff", "--name-only", "main") + git("ls-files", "--others", "--exclude-standard")
	for name := range strings.Lines(changed) {
		name = strings.TrimSpace(name)
		out[name] = git("show", "main:"+name)
	}
	return out
})

// git is the output of a command, "" if it fails: without a branch main nothing is new.
func git(arguments ...string) string {
	command := exec.Command("git", arguments...)
	command.Dir = root
	text, _ := command.Output()
	return string(text)
}

// holdNumber fails if today's figure is above the ceiling, and reports whether it holds.
func holdNumber(t *testing.T, measure string, today int) bool {
	t.Helper()
	values := ceilings(t, measure)
	require.Len(t, values, 1, "%s: one line for %s", ceilingsFile, measure)
	ceiling, err := strconv.Atoi(values[0])
	require.NoError(t, err, "%s: %s", ceilingsFile, measure)
	t.Logf("%s: %d, ceiling %d", measure, today, ceiling)
	switch {
	case today > ceiling:
		t.Errorf("%s: %d is above the ceiling of %d", measure, today, ceiling)
	case today < ceiling:
		t.Logf("lower the ceiling to %d: go test ./internal/lint -write-ceilings", today)
		lowered.Lock()
		defer lowered.Unlock()
		lowered.numbers[measure] = today
	}
	return today <= ceiling
}

// holdList fails for everything found that the ceilings do not list.
func holdList(t *testing.T, measure string, found []string) {
	t.Helper()
	allowed := ceilings(t, measure)
	t.Logf("%s: %d, ceiling %d", measure, len(found), len(allowed))
	var left []string
	for _, one := range found {
		if !slices.Contains(allowed, one) {
			t.Errorf("%s: %s is new; the list in %s only shrinks", measure, one, ceilingsFile)
			continue
		}
		t.Log(one)
		left = append(left, one)
	}
	if len(left) < len(allowed) {
		t.Logf("lower the ceiling to %d: go test ./internal/lint -write-ceilings", len(left))
		lowered.Lock()
		defer lowered.Unlock()
		lowered.lists[measure] = left
	}
}

// TestMain writes the ceilings that a passing run found to be too high, if asked to.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *writeCeilings {
		if err := lower(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// lower rewrites the file line by line. Comments and measures that did not run stay as they are.
func lower() error {
	text, err := os.ReadFile(ceilingsFile)
	if err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if m := ceilingLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if today, ok := lowered.numbers[m[1]]; ok {
				line = fmt.Sprintf("%s %d\n", m[1], today)
			}
			if left, ok := lowered.lists[m[1]]; ok && !slices.Contains(left, m[2]) {
				continue
			}
		}
		out.WriteString(line)
	}
	return os.WriteFile(ceilingsFile, []byte(out.String()), 0o644)
}
