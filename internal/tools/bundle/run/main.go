// Command run builds every function for Lambda. Into the folder given it writes the function's archive, <name>.zip, and
// the archive's bill of materials, <name>.zip.cdx.json. It prints the sizes of program and archive in bytes, and the
// archive's SHA-256.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"text/tabwriter"

	"nexus/internal/tools/bom"
	"nexus/internal/tools/bundle"
	"nexus/pkg/deploy/env"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) != 1 {
		return errors.New("one argument: the folder for the archives")
	}
	folder := args[0]
	programs, err := os.MkdirTemp("", "nexus-package-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	if err := bundle.Build(ctx, "", bundle.Lambda(), programs, bundle.Packages()...); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "function\tprogram\tarchive\tsha256 (%s)\t\n", runtime.Version())
	for _, f := range env.Functions() {
		program, err := os.ReadFile(filepath.Join(programs, string(f)))
		if err != nil {
			return err
		}
		var archive bytes.Buffer
		if err := bundle.Archive(&archive, bytes.NewReader(program)); err != nil {
			return fmt.Errorf("function %s: %w", f, err)
		}
		var materials bytes.Buffer
		if err := bom.Write(&materials, archive.Bytes(), bytes.NewReader(program)); err != nil {
			return fmt.Errorf("function %s: %w", f, err)
		}
		name := filepath.Join(folder, string(f)+".zip")
		if err := errors.Join(replace(name, archive.Bytes()), replace(name+bom.Suffix, materials.Bytes())); err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%x\t\n", f, len(program), archive.Len(), sha256.Sum256(archive.Bytes()))
	}
	return table.Flush()
}

// replace writes the file so that a reader sees the old content or the new, never a part.
func replace(path string, content []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}
