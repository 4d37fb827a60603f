// Command run plants one mistake after another into the code, builds nexus with it, and lets nexus simulate search for
// it: make planted. It prints what caught each, and exits with 1 if one was not caught.
//
// It must never change the code: it builds in a temporary folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"nexus/internal/simulate/planted"
	"nexus/internal/simulate/rig"
)

func main() {
	h := planted.Hunter{Root: "."}
	only := flag.String("only", "", "plant only the mistakes whose names match this `pattern`")
	list := flag.Bool("list", false, "list the mistakes and the rules that they break")
	compile := flag.Bool("compile", false, "only see whether each mistake compiles")
	into := flag.String("into", "", "bring the table of mistakes in this `file` up to date")
	flag.DurationVar(&h.Limit, "limit", 10*time.Second,
		"how long the simulation may look for one mistake, in processor time of two cores")
	flag.Uint64Var(&h.From, "from", 0, "the `seed` to begin with")
	flag.Parse()
	rig.Main("planted", func(ctx context.Context, folder string) error {
		pattern, err := regexp.Compile(*only)
		if err != nil {
			return fmt.Errorf("pattern of names: %w", err)
		}
		h.Folder = folder
		wanted := slices.DeleteFunc(planted.All(), func(m planted.Mistake) bool { return !pattern.MatchString(m.Name) })
		switch {
		case len(wanted) == 0:
			return fmt.Errorf("no mistake has a name that matches %q", *only)
		case *list:
			for _, m := range wanted {
				fmt.Printf("%-34s %s\n", m.Name, m.Rule)
			}
			return nil
		case *compile:
			for _, m := range wanted {
				_, builds := h.Build(ctx, m)
				err = errors.Join(err, builds)
			}
			return err
		}
		return plant(ctx, h, wanted, *into)
	})
}

// plant plants each mistake and prints its outcome.
func plant(ctx context.Context, h planted.Hunter, wanted []planted.Mistake, into string) error {
	caught := map[string]planted.Catch{}
	var survived []string
	for _, m := range wanted {
		c, err := h.Hunt(ctx, m)
		if err != nil {
			return err
		}
		if caught[m.Name] = c; !c.Caught {
			survived = append(survived, m.Name)
		}
		fmt.Printf("%-34s %s\n", m.Name, c)
	}
	fmt.Printf("%d mistakes planted, %d not caught\n", len(wanted), len(survived))
	if into != "" {
		former, err := os.ReadFile(into)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read the table: %w", err)
		}
		text := planted.Table(planted.All(), caught, string(former))
		if err := os.WriteFile(into, []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
	}
	if len(survived) > 0 {
		return fmt.Errorf("not caught: %s", strings.Join(survived, ", "))
	}
	return nil
}
