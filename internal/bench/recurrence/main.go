// Command speed prints how long one week's window of a recurring series takes, compiled, with zone resolution, beside
// the RRULE library that expands from the start of the rule. Its figures that matter are ratios of one run, so that
// they mean something on any machine; nothing fails on a slow one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"text/tabwriter"
	"time"
	_ "time/tzdata"

	"github.com/teambition/rrule-go"

	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// goals are how many times faster than the library a rule of ten years should be.
var goals = []struct {
	name, rule string
	times      float64
}{
	{"DAILY", "FREQ=DAILY", 3000},
	{"WEEKLY", "FREQ=WEEKLY;BYDAY=MO,WE,FR", 2000},
	{"MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=15", 500},
	{"YEARLY", "FREQ=YEARLY", 150},
}

const week = 7 * 24 * time.Hour

// from is where the week begins: a Monday midnight in New York.
var from = time.Date(2025, 6, 9, 4, 0, 0, 0, time.UTC)

func main() {
	testing.Init()
	if err := errors.Join(flag.Set("test.benchtime", "300ms"), table()); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func table() error {
	location, err := time.LoadLocation("America/New_York")
	if err != nil {
		return err
	}
	// The first figure is not to pay for what a program does when it begins.
	if _, err := compiled(goals[0].rule, start("", 10), location); err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "a week of\tnew\t10 years old\t20 years old\tallocations\t20 years : new\tlibrary, 10 "+
		"years\tlibrary : compiled\tgoal\t")
	for _, goal := range goals {
		var ns [3]float64
		allocations := int64(0)
		for i, years := range []int{0, 10, 20} {
			result, err := compiled(goal.rule, start(goal.name, years), location)
			if err != nil {
				return err
			}
			ns[i] = perOperation(result)
			allocations = max(allocations, result.AllocsPerOp())
		}
		theirs, err := library(goal.rule, start(goal.name, 10), location)
		if err != nil {
			return err
		}
		lib := perOperation(theirs)
		fmt.Fprintf(out, "%s\t%.0f ns\t%.0f ns\t%.0f ns\t%d\t%.2f\t%.0f ns\t%.0f\t%.0f\t\n",
			goal.rule, ns[0], ns[1], ns[2], allocations, ns[2]/ns[0], lib, lib/ns[1], goal.times)
	}
	return out.Flush()
}

func perOperation(r testing.BenchmarkResult) float64 {
	return float64(r.T.Nanoseconds()) / float64(r.N)
}

// start returns a day that many years before the week, on which the rule has an occurrence.
func start(name string, years int) time.Time {
	at := time.Date(2025-years, 5, 15, 9, 0, 0, 0, time.UTC)
	for name == "WEEKLY" && at.Weekday() != time.Monday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

func compiled(rule string, start time.Time, location *time.Location) (testing.BenchmarkResult, error) {
	series, err := recurrence.Compile(recurrence.Spec{Rule: rule, Start: start, Zone: location, WithStart: true})
	if err != nil {
		return testing.BenchmarkResult{}, err
	}
	var room [16]recurrence.Occurrence
	return testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			series.Between(room[:0], from, from.Add(week))
		}
	}), nil
}

// library expands by what the clock shows, as it has to be done to be right, and resolves what it finds.
func library(text string, start time.Time, location *time.Location) (testing.BenchmarkResult, error) {
	option, err := rrule.StrToROption(text)
	if err != nil {
		return testing.BenchmarkResult{}, err
	}
	option.Dtstart = start
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return testing.BenchmarkResult{}, err
	}
	zone := wallclock.Of(location)
	return testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			for _, wall := range rule.Between(from.Add(-26*time.Hour), from.Add(week+26*time.Hour), true) {
				zone.Instant(wall.Unix())
			}
		}
	}), nil
}
