package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// event is one line of go test -json, as cmd/test2json documents it.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build's output
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// count is a number of tests by their end; subtests count as well.
type count struct{ passed, failed, skipped int }

func (c count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// report prints events and adds them up.
type report struct {
	out      io.Writer
	output   map[string][]string // the output of each running test or package, for the case that it fails
	packages map[string]*count
	total    count
	ok       int
	failed   []string // packages
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[string][]string{}, packages: map[string]*count{}}
}

// read reads events until the stream ends. It passes on a line that is no event unchanged.
func (r *report) read(from io.Reader) error {
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) line(line string) {
	var e event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		fmt.Fprint(r.out, line)
		return
	}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output":
		r.output[e.key()] = append(r.output[e.key()], e.Output)
	case e.Test != "":
		r.testEnded(e)
	default:
		r.packageEnded(e)
	}
}

func (e event) key() string { return e.Package + " " + e.Test }

func (r *report) testEnded(e event) {
	c := r.packages[e.Package]
	if c == nil {
		c = &count{}
		r.packages[e.Package] = c
	}
	switch e.Action {
	case "pass":
		c.passed++
		r.total.passed++
	case "skip":
		c.skipped++
		r.total.skipped++
	case "fail":
		c.failed++
		r.total.failed++
		r.print(e.key())
	default:
		return
	}
	delete(r.output, e.key())
}

func (r *report) packageEnded(e event) {
	c := r.packages[e.Package]
	switch {
	case e.Action == "fail":
		r.failed = append(r.failed, e.Package)
		r.printUnfinished(e.Package)
		r.print(e.key())
		fmt.Fprintf(r.out, "FAIL  %s  %.1fs\n", e.Package, e.Elapsed)
	case (e.Action == "pass" || e.Action == "skip") && c != nil:
		r.ok++
		fmt.Fprintf(r.out, "ok    %s  %.1fs  (%s)\n", e.Package, e.Elapsed, c)
	case e.Action != "pass" && e.Action != "skip":
		return
	}
	delete(r.output, e.key())
}

func (r *report) print(key string) {
	for _, text := range r.output[key] {
		fmt.Fprint(r.out, text)
	}
}

// printUnfinished shows the output of tests that never ended, as in a panic or a timeout.
func (r *report) printUnfinished(pkg string) {
	for key := range r.output {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			r.print(key)
			delete(r.output, key)
		}
	}
}

func (r *report) finish() {
	fmt.Fprintf(r.out, "\npackages: %d ok, %d failed\ntests: %s\n", r.ok, len(r.failed), r.total)
	for _, name := range r.failed {
		fmt.Fprintln(r.out, "FAILED:", name)
	}
}
