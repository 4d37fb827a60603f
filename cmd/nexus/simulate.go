package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"nexus/internal/simulate"
)

const (
	// roomToCollect is the allowed growth of the heap between collections, in percent: histories are small and
	// short-lived.
	roomToCollect = 800
	// lastOperations is the number of a history's last operations that are shown with a violation.
	lastOperations = 25
)

// simulateCommand is nexus simulate.
type simulateCommand struct {
	Seeds   int    `default:"1000" placeholder:"N" help:"Histories to play."`
	From    uint64 `default:"0" placeholder:"S" help:"Seed of the first."`
	Steps   int    `default:"100" placeholder:"K" help:"Steps of each."`
	Skip    string `placeholder:"STEPS" help:"Steps that do not take place, such as 0-4,9."`
	Calm    string `placeholder:"STEPS" help:"Steps in which nothing fails."`
	Workers int    `placeholder:"N" help:"${simulate_workers}"`
	Shrink  bool   `default:"true" negatable:"" help:"Make a history that fails small."`
	Trace   bool   `help:"Tell all that happens in the first history."`
	JSON    bool   `name:"json" help:"Answer in JSON."`
}

// simulated is the answer in JSON.
type simulated struct {
	Histories           int            `json:"histories"`
	Operations          int64          `json:"operations"`
	Seconds             float64        `json:"seconds"`
	OperationsPerSecond float64        `json:"operationsPerSecond"`
	Happened            map[string]int `json:"happened"`
	Violations          []violation    `json:"violations"`
}

type violation struct {
	simulate.Violation
	Spec    string   `json:"spec"`
	Command string   `json:"command"`
	Trace   []string `json:"trace"`
}

// Run plays the histories. A violation ends it with an error.
func (c *simulateCommand) Run(ctx context.Context, out outputs) error {
	plan := simulate.Plan{From: c.From, Histories: c.Seeds, Steps: c.Steps, Workers: c.Workers, Stop: 1}
	if c.Workers < 1 {
		plan.Workers = runtime.GOMAXPROCS(0)
	}
	var err error
	for _, list := range []struct {
		text string
		into *[]int
	}{{c.Skip, &plan.Skip}, {c.Calm, &plan.Calm}} {
		if list.text != "" {
			if *list.into, err = simulate.ParseSteps(list.text); err != nil {
				return err
			}
		}
	}
	first := simulate.Spec{Seed: c.From, Steps: c.Steps, Skip: plan.Skip, Calm: plan.Calm}
	if _, err := simulate.ParseSpec(first.String()); err != nil {
		return err
	}
	if c.Trace {
		for _, line := range simulate.Replay(first).Trace {
			fmt.Fprintln(out.messages, line)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(roomToCollect))
	bar := newProgress(out.messages, "histories")
	var showing sync.Mutex
	plan.Progress = func(played int) {
		if showing.TryLock() { // if another goroutine shows the progress, this one has nothing newer
			bar.show(played, c.Seeds)
			showing.Unlock()
		}
	}
	begin := time.Now()
	tally := simulate.Play(ctx, plan)
	took := time.Since(begin)
	bar.end()
	answer := simulated{
		Histories: tally.Histories, Operations: tally.Operations, Seconds: took.Seconds(),
		OperationsPerSecond: float64(tally.Operations) / took.Seconds(), Happened: tally.Happened, Violations: []violation{},
	}
	for _, failed := range tally.Failed {
		if c.Shrink {
			failed = simulate.Shrink(ctx, failed)
		}
		trace := simulate.Replay(failed.Spec).Trace
		answer.Violations = append(answer.Violations, violation{
			*failed.Violation, failed.Spec.String(), failed.Spec.Command(), trace[max(0, len(trace)-lastOperations):],
		})
	}
	if err := c.print(out, answer); err != nil {
		return err
	}
	switch {
	case len(answer.Violations) > 0:
		return fmt.Errorf("%d of %d histories break an invariant", len(answer.Violations), answer.Histories)
	case ctx.Err() != nil:
		return fmt.Errorf("ended after %d of %d histories: %w", answer.Histories, c.Seeds, ctx.Err())
	}
	return nil
}

func (c *simulateCommand) print(out outputs, answer simulated) error {
	if c.JSON {
		if err := json.MarshalWrite(out.results, answer); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		fmt.Fprintln(out.results)
		return nil
	}
	fmt.Fprintf(out.results, "%d histories, %d operations, %d violations, %.0f operations a second\n",
		answer.Histories, answer.Operations, len(answer.Violations), answer.OperationsPerSecond)
	for _, v := range answer.Violations {
		fmt.Fprintf(out.results, "\n%s\n", v.Violation)
		for _, line := range v.Trace {
			fmt.Fprintf(out.results, "  %.200s\n", line)
		}
		fmt.Fprintf(out.results, "again: %s\n", v.Command)
	}
	return nil
}
