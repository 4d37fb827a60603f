package plan

import (
	"fmt"
	"slices"
)

// placed is a block with its place in the request.
type placed struct {
	Block
	at string
}

// checkPomodoros checks the rules that apply to pomodoros only: an action of the plan's list, an index within that
// to-do's estimate which rises with the time, and no other block at the same time.
func (c *checker) checkPomodoros() {
	blocks := make([]placed, len(c.plan.Blocks))
	for i, b := range c.plan.Blocks {
		blocks[i] = placed{b, fmt.Sprintf("/blocks/%d", i)}
		if b.BlockType == Pomodoro {
			c.checkPomodoro(blocks[i])
			continue
		}
		if b.ActionID != "" {
			c.Add(RuleBlockForeign, b.BlockID, blocks[i].at+"/actionId", "belongs to a POMODORO alone")
		}
		if b.PomodoroIndex != 0 {
			c.Add(RuleBlockForeign, b.BlockID, blocks[i].at+"/pomodoroIndex", "belongs to a POMODORO alone")
		}
	}
	slices.SortStableFunc(blocks, func(a, b placed) int { return compareBlocks(a.Block, b.Block) })
	last := map[string]int{} // of an action, the index of its previous pomodoro
	seen := map[string]map[int]bool{}
	for i, b := range blocks {
		if b.BlockType != Pomodoro {
			continue
		}
		if seen[b.ActionID] == nil {
			seen[b.ActionID] = map[int]bool{}
		}
		switch {
		case seen[b.ActionID][b.PomodoroIndex]:
			c.Add(RulePomodoroTwice, b.BlockID, b.at+"/pomodoroIndex", "is another pomodoro of %s", b.ActionID)
		case b.PomodoroIndex < last[b.ActionID]:
			c.Add(RulePomodoroOrder, b.BlockID, b.at+"/pomodoroIndex", "must rise with the time: %d comes before",
				last[b.ActionID])
		}
		seen[b.ActionID][b.PomodoroIndex] = true
		last[b.ActionID] = max(last[b.ActionID], b.PomodoroIndex)
		c.checkAlone(blocks, i)
	}
}

func (c *checker) checkPomodoro(b placed) {
	i := c.plan.todo(b.ActionID)
	switch {
	case b.ActionID == "":
		c.Add(RulePomodoroAction, b.BlockID, b.at+"/actionId", "a POMODORO must name its action")
	case i < 0:
		c.Add(RulePomodoroUnplanned, b.BlockID, b.at+"/actionId", "is not among the plan's to-dos")
	case b.PomodoroIndex > c.plan.Todos[i].EstimatedPomodoros:
		c.Add(RulePomodoroEstimate, b.BlockID, b.at+"/pomodoroIndex", "the to-do is estimated at %d pomodoros",
			c.plan.Todos[i].EstimatedPomodoros)
	}
	if b.PomodoroIndex < 1 || b.PomodoroIndex > maxPomodoros {
		c.Add(RulePomodoroIndex, b.BlockID, b.at+"/pomodoroIndex", "must be 1 to %d", maxPomodoros)
	}
}

// checkAlone reports one block at the same time as the pomodoro.
func (c *checker) checkAlone(blocks []placed, i int) {
	one := blocks[i]
	for j, other := range blocks {
		if j != i && other.StartTimeIso.Before(one.EndTimeIso) && one.StartTimeIso.Before(other.EndTimeIso) {
			c.Add(RulePomodoroOverlap, one.BlockID, one.at, "overlaps %s", other.BlockID)
			return
		}
	}
}
