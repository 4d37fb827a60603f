package mutants

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nexus/internal/simulate/rig"
)

// Together tests mutants that are built into one program, in which each is switched on by itself. So a mutant costs a
// run of the tests that meet it, and no build.
type Together struct {
	hunter *Hunter
	pkg    string
	woven  Woven
	tests  []program                              // the quick tests of each package, then the slow ones one by one
	judge  func(context.Context) (program, error) // plays histories; built on first use
	alone  sync.Mutex                             // one at a time is built by itself
}

// program is a test program or simulation of a woven package.
type program struct {
	path, folder string
	log          string // the file that gets what is met
	args         []string
	reaches      map[string]bool // the numbers of mutants
	patience     time.Duration   // how long a run may take
}

func (p program) String() string { return strings.Join(append([]string{p.path}, p.args...), " ") }

// Together builds all mutants of a package into the tests and the simulation. It fails if a test fails with every
// mutant off.
func (h *Hunter) Together(ctx context.Context, pkg string, all []Mutant) (*Together, error) {
	t := &Together{hunter: h, pkg: pkg}
	var err error
	folder := filepath.Join(h.Root, "pkg", pkg)
	if t.woven, err = Weave(folder, all); err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for name, text := range t.woven.Files {
		texts[filepath.Join(folder, name)] = []byte(text)
	}
	own := filepath.Join(h.Folder, "together") // a mutant that is built by itself has an overlay in the hunter's folder
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	overlay, err := rig.Overlay(own, texts)
	if err != nil {
		return nil, err
	}
	if err := t.build(ctx, overlay); err != nil {
		return nil, err
	}
	if t.tests, err = t.apart(ctx); err != nil {
		return nil, err
	}
	h.took = 0
	for i := range t.tests {
		took, err := t.meet(ctx, &t.tests[i])
		if err != nil {
			return nil, err
		}
		h.took += took
	}
	var once sync.Once
	var judge program
	t.judge = func(ctx context.Context) (program, error) {
		once.Do(func() { judge, err = t.buildJudge(ctx, overlay) })
		return judge, err
	}
	return t, nil
}

func (t *Together) build(ctx context.Context, overlay string) error {
	h := t.hunter
	flags := []string{"-test.failfast", "-test.timeout", h.Patience.String()}
	for _, test := range h.Tests {
		if short, ok := strings.CutPrefix(test, "-"); ok {
			flags = append(flags, "-test."+short)
		}
	}
	for i, test := range h.Tests {
		if strings.HasPrefix(test, "-") {
			continue
		}
		path := filepath.Join(h.Folder, fmt.Sprintf("together-%d.test", i))
		p := program{
			path: path, folder: filepath.Join(h.Root, test), log: path + ".reached", args: flags, patience: h.Patience,
		}
		if text, err := h.run(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", p.path, test); err != nil {
			return fmt.Errorf("build the tests of %s: %w: %s", test, err, text)
		}
		t.tests = append(t.tests, p)
	}
	return nil
}

// testTook is a line of the output of a test program: a test of the first level and the seconds that it took.
var testTook = regexp.MustCompile(`(?m)^--- PASS: (\S+) \((\d+\.\d+)s\)$`)

// quickTest bounds the seconds that a test takes which is run together with others.
const quickTest = 0.5

// apart takes the slow tests of each program apart: most mutants are killed by a quick test, and cost no run of a slow
// one.
func (t *Together) apart(ctx context.Context) ([]program, error) {
	type slowTest struct {
		program
		seconds float64
	}
	var quick []program
	var slow []slowTest
	for _, p := range t.tests {
		one := func(flag string) program { q := p; q.args = append(slices.Clone(p.args), flag); return q }
		text, err := t.run(ctx, one("-test.v"), "NEXUS_MUTANT=")
		if err != nil {
			return nil, fmt.Errorf("%s fails without a mutant: %w: %s", p, err, text)
		}
		var names []string
		for _, line := range testTook.FindAllStringSubmatch(string(text), -1) {
			if seconds, err := strconv.ParseFloat(line[2], 64); err == nil && seconds > quickTest {
				names = append(names, line[1])
				slow = append(slow, slowTest{one("-test.run=^" + line[1] + "$"), seconds})
			}
		}
		if len(names) > 0 {
			p = one("-test.skip=^(" + strings.Join(names, "|") + ")$")
		}
		quick = append(quick, p)
	}
	slices.SortFunc(slow, func(a, b slowTest) int { return cmp.Compare(a.seconds, b.seconds) })
	for i, p := range slow {
		p.log = fmt.Sprintf("%s.slow-%d", p.path, i)
		quick = append(quick, p.program)
	}
	return quick, nil
}

// buildJudge builds the simulation and notes which mutants its histories meet.
func (t *Together) buildJudge(ctx context.Context, overlay string) (program, error) {
	h := t.hunter
	path := filepath.Join(h.Folder, "together-nexus")
	p := program{path: path, folder: h.Root, log: path + ".reached", patience: h.Patience}
	p.args = []string{"simulate", "--json", "--no-shrink", "--seeds", strconv.Itoa(h.Seeds)}
	if err := rig.Build(ctx, h.Root, p.path, "-overlay", overlay); err != nil {
		return program{}, err
	}
	_, err := t.meet(ctx, &p)
	return p, err
}

// meet runs a program with the mutants off and notes which it meets, and how long it may take with one on. It returns
// how long it took.
func (t *Together) meet(ctx context.Context, p *program) (time.Duration, error) {
	begin := time.Now()
	if text, err := t.run(ctx, *p, "NEXUS_REACHED="+p.log); err != nil {
		return 0, fmt.Errorf("%s fails without a mutant: %w: %s", p, err, text)
	}
	took := time.Since(begin)
	p.patience = t.hunter.patience(took)
	text, err := os.ReadFile(p.log)
	if err != nil && !os.IsNotExist(err) {
		return 0, fmt.Errorf("what the tests meet: %w", err)
	}
	p.reaches = map[string]bool{}
	for number := range strings.FieldsSeq(string(text)) {
		p.reaches[number] = true
	}
	return took, nil
}

// Fate tests the mutant at the position in the list, and plays histories against it if no test fails. What is listed as
// equivalent is tested alone.
func (t *Together) Fate(ctx context.Context, at int, m Mutant, isListed bool) (Fate, error) {
	if t.woven.Texts[at] {
		return NoMutant, nil
	}
	if !t.woven.In[at] {
		t.alone.Lock()
		defer t.alone.Unlock()
		return t.hunter.Fate(ctx, t.pkg, m)
	}
	number := strconv.Itoa(at + 1)
	for _, p := range t.tests {
		if !p.reaches[number] {
			continue
		}
		if _, err := t.run(ctx, p, "NEXUS_MUTANT="+number); err != nil {
			return ByTests, failure(ctx, err)
		}
	}
	if isListed || t.hunter.Seeds == 0 {
		return Survived, ctx.Err()
	}
	judge, err := t.judge(ctx)
	if err != nil || !judge.reaches[number] {
		return Survived, err
	}
	text, err := t.run(ctx, judge, "NEXUS_MUTANT="+number)
	return played(ctx, text, err)
}

// run runs a program within its time, with a variable in its environment.
func (t *Together) run(ctx context.Context, p program, variable string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	cmd := exec.CommandContext(limited, p.path, p.args...)
	cmd.Dir = p.folder
	cmd.Env = append(os.Environ(), uncounted, variable)
	return cmd.Output()
}
