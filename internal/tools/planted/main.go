// Command run plants one mistake after another into the code, builds nexus with it, and lets nexus simulate look for
// it. It prints what caught each, and ends with 1 if one was not caught: make planted.
//
// It must never change the code: what it builds lies in a folder of its own that goes with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"nexus/internal/simulate/planted"
)

// options are what the command line asks for.
type options struct {
	only              *regexp.Regexp // names to plant; nil for all
	list, compileOnly bool
	into              string
	planted.Hunter
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("planted", flag.ContinueOnError)
	only := flags.String("only", "", "plant only the mistakes whose names match this `pattern`")
	flags.BoolVar(&o.list, "list", false, "list the mistakes and the rules that they break")
	flags.DurationVar(&o.Limit, "limit", 10*time.Second,
		"how long the simulation may look for one mistake, in processor time of two cores")
	flags.Uint64Var(&o.From, "from", 0, "the `seed` to begin with")
	flags.BoolVar(&o.compileOnly, "compile", false, "only see whether each mistake compiles")
	flags.StringVar(&o.into, "into", "", "bring the table of mistakes in this `file` up to date")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if *only == "" {
		return o, nil
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return options{}, fmt.Errorf("pattern of names: %w", err)
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	var wanted []planted.Mistake
	for _, m := range planted.All() {
		if o.only == nil || o.only.MatchString(m.Name) {
			wanted = append(wanted, m)
		}
	}
	if o.list {
		for _, m := range wanted {
			fmt.Fprintf(out, "%-34s %s\n", m.Name, m.Rule)
		}
		return nil
	}
	if o.Root, err = os.Getwd(); err != nil {
		return fmt.Errorf("the module's root: %w", err)
	}
	if o.Folder, err = os.MkdirTemp("", "planted"); err != nil {
		return fmt.Errorf("a folder to build in: %w", err)
	}
	return errors.Join(o.plant(ctx, wanted, out), os.RemoveAll(o.Folder))
}

// plant plants each mistake and prints what becomes of it.
func (o options) plant(ctx context.Context, wanted []planted.Mistake, out io.Writer) error {
	caught := map[string]planted.Catch{}
	var survived []string
	for _, m := range wanted {
		if o.compileOnly {
			if _, err := o.Build(ctx, m); err != nil {
				return err
			}
			continue
		}
		c, err := o.Hunt(ctx, m)
		if err != nil {
			return err
		}
		if caught[m.Name] = c; !c.Caught {
			survived = append(survived, m.Name)
		}
		fmt.Fprintf(out, "%-34s %s\n", m.Name, c)
	}
	fmt.Fprintf(out, "%d mistakes planted, %d not caught\n", len(wanted), len(survived))
	if o.into != "" && !o.compileOnly {
		if err := o.write(caught); err != nil {
			return err
		}
	}
	if len(survived) > 0 {
		return fmt.Errorf("not caught: %s", strings.Join(survived, ", "))
	}
	return nil
}

// write brings the table up to date.
func (o options) write(caught map[string]planted.Catch) error {
	former, err := os.ReadFile(o.into)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the table: %w", err)
	}
	if err := os.WriteFile(o.into, []byte(planted.Table(planted.All(), caught, string(former))), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
