package plan

import "nexus/pkg/revision"

// Rules of the daily plan. A violation's subject is the action of a to-do, or a block.
const (
	RuleTooManyTodos   revision.Rule = "too-many-todos"
	RuleTodoAction     revision.Rule = "todo-action"
	RuleTodoUnknown    revision.Rule = "todo-action-unknown"
	RuleTodoType       revision.Rule = "todo-action-type"
	RuleTodoDeleted    revision.Rule = "todo-action-deleted"
	RuleTodoTwice      revision.Rule = "todo-twice"
	RuleTodoOrder      revision.Rule = "todo-order"
	RuleClassification revision.Rule = "classification"
	RuleEstimate       revision.Rule = "estimated-pomodoros"
	RuleNotes          revision.Rule = "notes"
	RuleCompletedAt    revision.Rule = "completed-at"

	RuleTooManyBlocks revision.Rule = "too-many-blocks"
	RuleBlockID       revision.Rule = "block-id"
	RuleNewBlockID    revision.Rule = "new-block-id"
	RuleBlockTwice    revision.Rule = "block-twice"
	RuleBlockType     revision.Rule = "block-type"
	RuleBlockTitle    revision.Rule = "block-title"
	RuleBlockDay      revision.Rule = "block-day"
	RuleBlockEnd      revision.Rule = "block-end"
	RuleBlockLength   revision.Rule = "block-length"
	RuleBlockForeign  revision.Rule = "block-foreign-field"

	RulePomodoroAction    revision.Rule = "pomodoro-action"
	RulePomodoroUnplanned revision.Rule = "pomodoro-action-unplanned"
	RulePomodoroIndex     revision.Rule = "pomodoro-index"
	RulePomodoroEstimate  revision.Rule = "pomodoro-beyond-estimate"
	RulePomodoroTwice     revision.Rule = "pomodoro-index-twice"
	RulePomodoroOrder     revision.Rule = "pomodoro-index-order"
	RulePomodoroOverlap   revision.Rule = "pomodoro-overlap"
)
