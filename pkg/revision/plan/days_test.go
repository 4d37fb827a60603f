package plan_test

import (
	"testing"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision/plan"
)

func TestDays_sumUpWhatWasPlannedAndDone(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	_, err := b.plans.Complete(b.ctx, "ann", monday, act(1), "", 0)
	b.NoError(err)
	first, err := item.ParseDate("2026-01-18")
	b.NoError(err)
	b.calls = nil
	days, err := b.plans.Days(b.ctx, "ann", first, first.AddDate(0, 0, 2))
	b.NoError(err)
	ops := map[string]int{}
	for _, c := range b.calls {
		ops[c.Op]++
	}
	b.Equal(map[string]int{"Get": 3, "Query": 1}, ops)
	var pomodoros, rest int
	for _, block := range aDay().Blocks {
		minutes := int(block.EndTimeIso.Sub(block.StartTimeIso) / time.Minute)
		if block.BlockType == plan.Pomodoro {
			pomodoros += minutes // all of the first action
		} else {
			rest += minutes
		}
	}
	b.Len(days, 1, "days without a plan are left out")
	b.Equal(monday, days[0].Date)
	b.Equal([2]int{3, 1}, [2]int{days[0].Todos, days[0].Done})
	b.Equal([2]int{pomodoros, pomodoros}, [2]int{days[0].Minutes[plan.Pomodoro], days[0].DoneMinutes})
	b.Len(days[0].Minutes, 4)
	b.Equal(rest, days[0].Minutes[plan.Meeting]+days[0].Minutes[plan.Break]+days[0].Minutes[plan.Buffer])

	none, err := b.plans.Days(b.ctx, "bob", first, first.AddDate(0, 0, plan.MaxDays-1))
	b.NoError(err)
	b.Empty(none)
	_, err = b.plans.Days(b.ctx, "bob", first, first.AddDate(0, 0, plan.MaxDays))
	b.Error(err)
}
