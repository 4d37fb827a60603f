package simulate

import (
	"cmp"
	"context"
	"slices"
)

func sortBySeed(results []Result) {
	slices.SortFunc(results, func(a, b Result) int { return cmp.Compare(a.Spec.Seed, b.Spec.Seed) })
}

// maxAttempts bounds the histories that shrinking one plays.
const maxAttempts = 2000

// Shrink makes a history that breaks an invariant small: it leaves out steps, and faults in those that are left, as
// long as the same invariant breaks. It returns the smallest it found, or the result as it was if that breaks none.
func Shrink(ctx context.Context, failed Result) Result {
	if failed.Violation == nil {
		return failed
	}
	s := shrinking{ctx: ctx, best: failed}
	s.cut()
	for before := -1; before != len(s.best.Spec.Skip) && s.goesOn(); {
		before = len(s.best.Spec.Skip)
		s.leaveOut(func(spec *Spec, steps []int) { spec.Skip = append(slices.Clone(spec.Skip), steps...) })
	}
	s.leaveOut(func(spec *Spec, steps []int) { spec.Calm = append(slices.Clone(spec.Calm), steps...) })
	return s.best
}

type shrinking struct {
	ctx      context.Context
	best     Result
	attempts int
}

func (s *shrinking) goesOn() bool { return s.attempts < maxAttempts && s.ctx.Err() == nil }

// try keeps the spec if the same invariant breaks.
func (s *shrinking) try(spec Spec) bool {
	s.attempts++
	r := Run(spec)
	if r.Violation == nil || r.Violation.Invariant != s.best.Violation.Invariant {
		return false
	}
	s.best = r
	return true
}

// cut removes the steps after the violation.
func (s *shrinking) cut() {
	spec := s.best.Spec
	if at := s.best.Violation.Step + 1; at < spec.Steps {
		spec.Steps = at
		s.try(spec)
	}
}

// leaveOut tries to leave out the remaining steps, many together first.
func (s *shrinking) leaveOut(without func(spec *Spec, steps []int)) {
	for size := 32; size > 0; size /= 2 {
		for from := s.best.Spec.Steps - 1; from >= 0 && s.goesOn(); from -= size {
			var steps []int
			for i := max(0, from-size+1); i <= from; i++ {
				if !slices.Contains(s.best.Spec.Skip, i) && !slices.Contains(s.best.Spec.Calm, i) {
					steps = append(steps, i)
				}
			}
			if len(steps) == 0 {
				continue
			}
			spec := s.best.Spec
			without(&spec, steps)
			s.try(spec)
		}
	}
	spec := s.best.Spec
	slices.Sort(spec.Skip)
	slices.Sort(spec.Calm)
	s.best.Spec = spec
}
