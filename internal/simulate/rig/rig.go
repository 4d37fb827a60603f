// Package rig holds what the programs around the simulation share: how such a program begins and ends, how it builds
// nexus with other code than that of the tree, and how it reads the tables of a document.
//
// An overlay (go help build, -overlay) replaces code for the compiler. The package promises that nothing in the tree
// is ever touched: it writes only into a folder of the caller's. It must never be imported by anything but the
// programs below internal/tools, the packages below internal/simulate, and tests.
package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

// Main runs a program with a folder to build in, which goes with it. The process ends with 1 if the program fails. An
// interrupt ends the program's context.
func Main(name string, run func(ctx context.Context, folder string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	folder, err := os.MkdirTemp("", name)
	if err == nil {
		err = errors.Join(run(ctx, folder), os.RemoveAll(folder))
	}
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Overlay writes the texts into the folder, and an overlay that shows them to the compiler as the files of their paths.
// It returns the overlay's path.
func Overlay(folder string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range files {
		replace[file] = filepath.Join(folder, fmt.Sprintf("%d-%s", len(replace), filepath.Base(file)))
		if err := os.WriteFile(replace[file], text, 0o600); err != nil {
			return "", fmt.Errorf("write an overlay: %w", err)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("encode an overlay: %w", err)
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	return path, nil
}

// Build builds nexus from the tree at the root as a program, with more flags of go build.
func Build(ctx context.Context, root, program string, flags ...string) error {
	args := append([]string{"build", "-buildvcs=false", "-o", program}, flags...)
	return build(ctx, root, append(args, "./cmd/nexus")...)
}

// BuildTests builds the tests of the package in this folder of the tree as a program, with more flags of go test.
func BuildTests(ctx context.Context, root, folder, program string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-buildvcs=false", "-o", program}, flags...)
	return build(ctx, root, append(args, "./"+folder)...)
}

func build(ctx context.Context, root string, args ...string) error {
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", args[len(args)-1], err, text)
	}
	return nil
}

// ErrTable says that a document's table cannot be read.
var ErrTable = errors.New("not a table of the document")

// ReadTable returns the cells of a table of a document, row by row. The table is the first one with the columns.
func ReadTable(document string, columns ...string) ([][]string, error) {
	head := "| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)) + "\n"
	_, table, found := strings.Cut(document, head)
	if !found {
		return nil, fmt.Errorf("%w: no columns %q", ErrTable, columns)
	}
	var out [][]string
	for line := range strings.SplitSeq(table, "\n") {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != len(columns)+2 {
			return nil, fmt.Errorf("%w: %d cells in %q, want %d", ErrTable, len(cells)-2, line, len(columns))
		}
		cells = cells[1 : len(cells)-1]
		for i := range cells {
			cells[i] = strings.Trim(strings.ReplaceAll(cells[i], "\x00", "|"), " `")
		}
		out = append(out, cells)
	}
	return out, nil
}

// Row returns a row of a table. A cell that shows code is already in backquotes.
func Row(cells ...string) string {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
