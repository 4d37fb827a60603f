package plan

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/text"
)

// checker checks a plan against the rules before its commit, and completes omitted parts.
type checker struct {
	*revision.Violations
	plan    *Plan
	before  Plan
	day     time.Time // midnight UTC of the plan's date
	now     time.Time
	actions map[string]values.Node // those of the tree that new to-dos name
	newID   func() string
}

// check completes the plan and records every rule it breaks. To-dos and blocks must be in the order of the request,
// because the pointers count them.
func (c *checker) check() {
	fits := true
	if len(c.plan.Todos) > MaxTodos {
		c.Add(RuleTooManyTodos, "", "/todos", "a plan has at most %d to-dos, not %d", MaxTodos, len(c.plan.Todos))
		fits = false
	}
	if len(c.plan.Blocks) > MaxBlocks {
		c.Add(RuleTooManyBlocks, "", "/blocks", "a plan has at most %d blocks, not %d", MaxBlocks, len(c.plan.Blocks))
		fits = false
	}
	if !fits {
		return // a plan that is too large is not checked further
	}
	seen := map[string]bool{}
	for i := range c.plan.Todos {
		t := &c.plan.Todos[i]
		at := fmt.Sprintf("/todos/%d", i)
		if seen[t.ActionID] {
			c.Add(RuleTodoTwice, t.ActionID, at+"/actionId", "is in the plan twice")
		}
		seen[t.ActionID] = true
		c.checkTodo(at, i+1, t)
	}
	blocks := map[string]bool{}
	for i := range c.plan.Blocks {
		b := &c.plan.Blocks[i]
		c.checkBlock(fmt.Sprintf("/blocks/%d", i), b)
		if blocks[b.BlockID] {
			c.Add(RuleBlockTwice, b.BlockID, fmt.Sprintf("/blocks/%d/blockId", i), "is in the plan twice")
		}
		blocks[b.BlockID] = true
	}
	c.checkPomodoros()
}

func (c *checker) checkTodo(at string, order int, t *Todo) {
	subject := t.ActionID
	c.checkAction(at+"/actionId", t.ActionID)
	if t.Order != 0 && t.Order != order {
		c.Add(RuleTodoOrder, subject, at+"/order", "is at place %d of the list", order)
	}
	t.Order = order
	if !slices.Contains([]Classification{Urgent, Important, Other}, t.Classification) {
		c.Add(RuleClassification, subject, at+"/classification", "must be one of %s, %s, %s", Urgent, Important, Other)
	}
	if t.EstimatedPomodoros < 0 || t.EstimatedPomodoros > maxPomodoros {
		c.Add(RuleEstimate, subject, at+"/estimatedPomodoros", "must be 0 to %d", maxPomodoros)
	}
	if !utf8.ValidString(t.Notes) || len(t.Notes) > maxNotes {
		c.Add(RuleNotes, subject, at+"/notes", "must be valid UTF-8 of at most %d bytes", maxNotes)
	}
	if old := c.before.todo(t.ActionID); old < 0 || c.before.Todos[old].Notes != t.Notes {
		if wrong := text.CheckMarkdown(t.Notes); wrong != "" {
			c.Add(RuleNotes, subject, at+"/notes", "%s", wrong)
		}
	}
	t.CompletedAt = t.CompletedAt.UTC().Truncate(time.Second)
	if t.Done() && (t.CompletedAt.After(c.now) || t.CompletedAt.Year() < 1900) {
		c.Add(RuleCompletedAt, subject, at+"/completedAt", "must be an instant that has passed")
	}
}

// checkAction checks the action of a to-do that the parent revision does not have.
func (c *checker) checkAction(at, id string) {
	switch node, ok := c.actions[id]; {
	case !isActionID(id):
		c.Add(RuleTodoAction, id, at, "must be %s_ and 1 to 50 of A-Z a-z 0-9 _ -", repository.ActionPrefix)
	case c.before.todo(id) >= 0:
	case !ok:
		c.Add(RuleTodoUnknown, id, at, "is not in the values tree")
	case node.NodeType != values.Action:
		c.Add(RuleTodoType, id, at, "is %s in the values tree", node.NodeType)
	case node.Deleted():
		c.Add(RuleTodoDeleted, id, at, "is deleted in the values tree")
	}
}

func isActionID(id string) bool {
	return entity.CheckID(repository.ActionPrefix, id) == nil || entity.CheckID(repository.NodePrefix, id) == nil
}

func (c *checker) checkBlock(at string, b *Block) {
	c.checkBlockID(at+"/blockId", b)
	subject := b.BlockID
	if !slices.Contains(BlockTypes(), b.BlockType) {
		c.Add(RuleBlockType, subject, at+"/blockType", "must be one of %s, %s, %s, %s", Meeting, Pomodoro, Break, Buffer)
	}
	if !utf8.ValidString(b.Title) || utf8.RuneCountInString(b.Title) > maxTitle {
		c.Add(RuleBlockTitle, subject, at+"/title", "must be valid UTF-8 of at most %d characters", maxTitle)
	}
	if wrong := text.CheckLine(b.Title); wrong != "" && !c.hadTitle(b) {
		c.Add(RuleBlockTitle, subject, at+"/title", "%s", wrong)
	}
	b.StartTimeIso, b.EndTimeIso = b.StartTimeIso.UTC().Truncate(time.Second), b.EndTimeIso.UTC().Truncate(time.Second)
	// The day begins 14 hours earlier and ends 12 hours later, depending on the zone.
	first, last := c.day.Add(-14*time.Hour), c.day.Add(36*time.Hour)
	if b.StartTimeIso.Before(first) || !b.StartTimeIso.Before(last) {
		c.Add(RuleBlockDay, subject, at+"/startTimeIso", "must begin on the plan's day, wherever that is")
		return
	}
	switch length := b.EndTimeIso.Sub(b.StartTimeIso); {
	case length <= 0:
		c.Add(RuleBlockEnd, subject, at+"/endTimeIso", "must be after the start")
	case length > maxBlock:
		c.Add(RuleBlockLength, subject, at+"/endTimeIso", "must be at most 24 hours after the start")
	}
}

// hadTitle reports whether the parent revision's block also has the title.
func (c *checker) hadTitle(b *Block) bool {
	return slices.ContainsFunc(c.before.Blocks, func(old Block) bool {
		return old.BlockID == b.BlockID && old.Title == b.Title
	})
}

func (c *checker) checkBlockID(at string, b *Block) {
	known := slices.ContainsFunc(c.before.Blocks, func(old Block) bool { return old.BlockID == b.BlockID })
	switch {
	case known:
	case b.BlockID == "":
		b.BlockID = repository.BlockPrefix + "_" + c.newID()
	case entity.CheckID(repository.BlockPrefix, b.BlockID) != nil:
		c.Add(RuleBlockID, b.BlockID, at, "must be %s_ and 1 to 50 of A-Z a-z 0-9 _ -", repository.BlockPrefix)
	case entity.CheckClientID(repository.BlockPrefix, b.BlockID) != nil:
		c.Add(RuleNewBlockID, b.BlockID, at, "a new block's id ends in a lower-case UUID")
	}
}
