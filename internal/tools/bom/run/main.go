// Command run writes the bill of materials of each program given, as <program>.cdx.json beside it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"nexus/internal/tools/bom"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bom:", err)
		os.Exit(1)
	}
}

func run(programs []string) error {
	if len(programs) == 0 {
		return errors.New("arguments: the programs")
	}
	for _, path := range programs {
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := bom.Write(&text, program, bytes.NewReader(program)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path+bom.Suffix, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
