// Command coldstart prints how long each function takes from the start of its process until it asks for its first
// invocation, beside a function that does nothing, and how large its program for Lambda is.
//
// Programs for this machine take turns, so that whatever else the machine does disturbs all of them alike; what counts
// is the ratio of the medians. Nothing fails on a slow machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"nexus/internal/tools/bundle"
	"nexus/pkg/deploy/env"
)

// empty is the program that the others are measured against.
const empty = "empty"

// maxProgram is the goal for the size of a program, in bytes: Lambda fetches it at a cold start.
const maxProgram = 12_000_000

// times is the goal for how many times the start of the empty one a function takes. Those that serve HTTP have more to
// build.
func times(name string) float64 {
	if name == string(env.Command) || name == string(env.Query) {
		return 3
	}
	return 2
}

func main() {
	runs := flag.Int("runs", 200, "how often each program is started")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *runs, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coldstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, runs int, out io.Writer) (err error) {
	if runs < 1 {
		return errors.New("-runs must be at least 1")
	}
	folder, err := os.MkdirTemp("", "nexus-coldstart-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	here, there := filepath.Join(folder, "here"), filepath.Join(folder, "lambda")
	names, packages := []string{empty}, []string{"nexus/internal/bench/coldstart/" + empty}
	for _, f := range env.Functions() {
		names, packages = append(names, string(f)), append(packages, "nexus/functions/"+string(f))
	}
	for target, machine := range map[string]bundle.Machine{here: bundle.Here(), there: bundle.Lambda()} {
		if err := os.Mkdir(target, 0o755); err != nil {
			return err
		}
		if err := bundle.Build(ctx, "", machine, target, packages...); err != nil {
			return err
		}
	}
	measured := map[string][]began{}
	for i := range runs {
		for j := range names {
			name := names[(i+j)%len(names)] // no one always comes behind the same other
			one, err := start(ctx, filepath.Join(here, name), environment())
			if err != nil {
				return err
			}
			measured[name] = append(measured[name], one)
		}
	}
	return report(out, runs, names, measured, there)
}

// environment has every variable of every function; a function takes what it needs.
func environment() []string {
	arn := "arn:aws:lambda:eu-central-1:123456789012:function:nexus-notify"
	out := []string{
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none", "AWS_SESSION_TOKEN=none",
	}
	for name, value := range map[string]string{
		env.TableName: "ProductivityData", env.ArchiveBucket: "nexus-archive", env.ParkingBucket: "nexus-parking",
		env.BusName:       "nexus",
		env.ScheduleGroup: "nexus", env.ScheduleTargetARN: arn,
		env.ScheduleRoleARN:       "arn:aws:iam::123456789012:role/nexus-scheduler",
		env.ScheduleDeadLetterARN: "arn:aws:sqs:eu-central-1:123456789012:nexus-undelivered",
	} {
		out = append(out, name+"="+value)
	}
	return out
}

func report(out io.Writer, runs int, names []string, measured map[string][]began, there string) error {
	clock := func(b began) time.Duration { return b.clock }
	processor := func(b began) time.Duration { return b.processor }
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "function\tstart, median of %d\ta tenth within\ttimes empty\tgoal\tprocessor time\ttimes "+
		"empty\tbytes for Lambda\tgoal\t\n", runs)
	for _, name := range names {
		program, err := os.Stat(filepath.Join(there, name))
		if err != nil {
			return err
		}
		own, least := quantile(measured[name], clock, 0.5), quantile(measured[empty], clock, 0.5)
		work, leastWork := quantile(measured[name], processor, 0.5), quantile(measured[empty], processor, 0.5)
		goal, size := fmt.Sprintf("%.0f", times(name)), fmt.Sprint(maxProgram)
		if name == empty {
			goal, size = "", ""
		}
		fmt.Fprintf(table, "%s\t%.2f ms\t%.2f ms\t%.2f\t%s\t%.2f ms\t%.2f\t%d\t%s\t\n", name,
			milliseconds(own), milliseconds(quantile(measured[name], clock, 0.1)), float64(own)/float64(least), goal,
			milliseconds(work), float64(work)/float64(leastWork), program.Size(), size)
	}
	return table.Flush()
}

// quantile returns the duration that the part of all starts stays within.
func quantile(starts []began, of func(began) time.Duration, part float64) time.Duration {
	var all []time.Duration
	for _, s := range starts {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[int(part*float64(len(all)-1))]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
