// Command run builds nexus with the release before it inside and plays random histories in which both work: make
// beside. It exits with 1 if a history breaks an invariant.
//
// It must never change the code: it builds in a temporary folder.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"nexus/internal/simulate/beside"
	"nexus/internal/simulate/rig"
)

func main() {
	before := flag.String("before", beside.Before, "the `commit` of the release before")
	keep := flag.String("keep", "", "leave the program at this `path` as well")
	flag.Parse()
	rig.Main("beside", func(ctx context.Context, folder string) error {
		program := cmp.Or(*keep, filepath.Join(folder, "nexus"))
		if err := beside.Build(ctx, ".", *before, folder, program); err != nil {
			return err
		}
		simulate := exec.CommandContext(ctx, program, append([]string{"simulate"}, flag.Args()...)...)
		simulate.Stdout, simulate.Stderr = os.Stdout, os.Stderr
		if err := simulate.Run(); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		return nil
	})
}
