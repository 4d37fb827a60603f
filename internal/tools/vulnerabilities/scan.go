package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"

	"nexus/internal/tools/bundle"
)

// program names the packages of one scan.
type program struct {
	name     string
	folder   string // of the module
	machine  bundle.Machine
	tags     string
	packages []string
}

// programs are those that are handed out, and the one that deploys them, which has an operator's rights.
func programs() []program {
	return []program{
		{"functions", "", bundle.Lambda(), bundle.Tags, bundle.Packages()},
		{"command line", "", bundle.Here(), "", []string{"./cmd/nexus"}},
		{"infrastructure", "infra", bundle.Here(), "", []string{"./..."}},
	}
}

// scan runs govulncheck and returns the vulnerabilities of which it reaches a function, sorted by their ids.
func (p program) scan(ctx context.Context, scanner, database string) ([]vulnerability, error) {
	args := append([]string{"-format", "json", "-db", database, "-tags", p.tags}, p.packages...)
	command := exec.CommandContext(ctx, scanner, args...)
	command.Dir, command.Env = p.folder, p.machine.Environment()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(complaints.Bytes()))
	}
	found, err := read(bytes.NewReader(text))
	for i := range found {
		found[i].from = path.Join(p.folder, found[i].from)
	}
	return found, err
}

// vulnerability is one that a program can reach.
type vulnerability struct {
	id, summary    string
	module, fixed  string // the module as it is used, and the version without the vulnerability
	function, from string // the vulnerable function, and where code of ours leads to it
	steps          int
}

func (v vulnerability) String() string {
	fixed := "no version without it"
	if v.fixed != "" {
		fixed = "fixed in " + v.fixed
	}
	return fmt.Sprintf("  %s %s, %s: %s\n    %s leads to %s", v.id, v.module, fixed, v.summary, v.from, v.function)
}

// message is one of those that govulncheck prints with -format json.
type message struct {
	OSV *struct {
		ID, Summary string
	} `json:"osv"`
	Finding *struct {
		OSV          string  `json:"osv"`
		FixedVersion string  `json:"fixed_version"`
		Trace        []frame `json:"trace"`
	} `json:"finding"`
	Config *struct {
		ScanLevel string `json:"scan_level"`
	} `json:"config"`
}

// frame is a step on the way from our code to the vulnerable function, which is the first.
type frame struct {
	Module, Version, Package, Function, Receiver string
	Position                                     *struct {
		Filename string
		Line     int
	}
}

// name is the function of a frame as Go's traces have it.
func (f frame) name() string {
	switch {
	case f.Receiver == "":
		return f.Package + "." + f.Function
	case strings.HasPrefix(f.Receiver, "*"):
		return f.Package + ".(" + f.Receiver + ")." + f.Function
	}
	return f.Package + "." + f.Receiver + "." + f.Function
}

// read returns the vulnerabilities, each with its shortest way. It leaves out those of which no function is reached,
// although a module or package has them.
func read(messages io.Reader) ([]vulnerability, error) {
	summaries, found := map[string]string{}, map[string]vulnerability{}
	isWhole := false
	for decoder := json.NewDecoder(messages); ; {
		var m message
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("govulncheck: %w", err)
		}
		switch {
		case m.Config != nil:
			isWhole = m.Config.ScanLevel == "symbol"
		case m.OSV != nil:
			summaries[m.OSV.ID] = m.OSV.Summary
		case m.Finding != nil && len(m.Finding.Trace) > 0 && m.Finding.Trace[0].Function != "":
			v := newVulnerability(m.Finding.OSV, m.Finding.FixedVersion, m.Finding.Trace)
			key := v.id + " " + v.module // each module has its own way out
			if former, isThere := found[key]; !isThere || v.steps < former.steps {
				found[key] = v
			}
		}
	}
	if !isWhole {
		return nil, errors.New("govulncheck: it did not look for functions")
	}
	var out []vulnerability
	for _, key := range slices.Sorted(maps.Keys(found)) {
		v := found[key]
		v.summary = summaries[v.id]
		out = append(out, v)
	}
	return out, nil
}

func newVulnerability(id, fixed string, trace []frame) vulnerability {
	end := trace[0]
	v := vulnerability{id: id, fixed: fixed, module: end.Module + " " + end.Version, steps: len(trace)}
	v.function = end.name()
	for _, f := range trace {
		if f.Module == "nexus" || strings.HasPrefix(f.Module, "nexus/") {
			v.from = f.name()
			if f.Position != nil {
				v.from = fmt.Sprintf("%s:%d", f.Position.Filename, f.Position.Line)
			}
			break
		}
	}
	return v
}
