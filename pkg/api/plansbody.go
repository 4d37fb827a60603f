package api

import (
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/revision/plan"
)

// Members about daily plans.
const (
	memberTodos    = "todos"
	memberBlocks   = "blocks"
	memberActionID = "actionId"
	memberPlan     = "plan"
	memberValues   = "values"
	memberCarried  = "carried"

	exampleAction = "act_1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
)

// Names of the schemas about plans.
const (
	planTodo       = "PlanTodo"
	planBlock      = "PlanBlock"
	planRevision   = "PlanRevision"
	planDiff       = "PlanDiff"
	planCommit     = "PlanCommit"
	planRollover   = "PlanRollover"
	planCompletion = "PlanCompletion"
)

// readCommitOfPlan reads the members of a plan's commit by type; the repository checks the rules.
func readCommitOfPlan(c call) (plan.Commit, *Problem) {
	var wrong findings
	r := &reading{doc: c.doc, wrong: &wrong}
	commit := plan.Commit{
		ParentRevID: r.text(memberParentRevID), Message: r.text(memberMessage), Reason: r.text(memberReason),
		IdempotencyKey: c.key, Retention: c.retention,
	}
	var hasTodos, hasBlocks bool
	commit.Plan.Todos, hasTodos = readList(r, memberTodos, readTodo)
	commit.Plan.Blocks, hasBlocks = readList(r, memberBlocks, readBlock)
	r.finish()
	if !hasTodos {
		wrong.add("/"+memberTodos, "is required")
	}
	if !hasBlocks {
		wrong.add("/"+memberBlocks, "is required")
	}
	if len(wrong) > 0 {
		return plan.Commit{}, refuseFields(wrong...)
	}
	return commit, nil
}

func readTodo(r *reading) plan.Todo {
	return plan.Todo{
		ActionID: r.text(memberActionID), Order: r.whole("order"),
		Classification: plan.Classification(r.text("classification")), EstimatedPomodoros: r.whole("estimatedPomodoros"),
		Notes: r.text(memberNotes), CompletedAt: r.instant("completedAt"),
	}
}

func readBlock(r *reading) plan.Block {
	return plan.Block{
		BlockID: r.text("blockId"), BlockType: plan.BlockType(r.text("blockType")),
		StartTimeIso: r.instant("startTimeIso"), EndTimeIso: r.instant("endTimeIso"), Title: r.text(memberTitle),
		ActionID: r.text(memberActionID), PomodoroIndex: r.whole("pomodoroIndex"),
	}
}

func commitPlanBody() *body {
	return &body{
		required: true, limit: maxCommit, schema: schemaRef(planCommit),
		example: map[string]any{
			memberReason: plan.ReasonMorningPlan,
			memberTodos: []any{
				map[string]any{memberActionID: exampleAction, "classification": plan.Important, "estimatedPomodoros": 1},
			},
			memberBlocks: []any{map[string]any{
				"blockType": plan.Pomodoro, "startTimeIso": "2026-03-02T09:30:00Z", "endTimeIso": "2026-03-02T09:55:00Z",
				memberActionID: exampleAction, "pomodoroIndex": 1,
			}},
		},
	}
}

func completePlanBody() *body {
	action := form(entity.Field{
		Name: memberActionID, Kind: entity.Text, Required: true, Min: 1, Max: 64,
		Doc: "The action, which the plan has a to-do of.",
	})
	schema := closed([]string{memberActionID}, object{{memberActionID, actionIDSchema(action.Fields[0].Doc)}})
	return &body{form: action, schema: schema, required: true, example: map[string]any{memberActionID: exampleAction}}
}

func todoSchema() object {
	return closed([]string{memberActionID, "classification"}, object{
		{memberActionID, actionIDSchema("An action of the values tree.")},
		{"order", countSchema("Its place, from 1. It is that in the list, and may be left out.", 1, plan.MaxTodos)},
		{"classification", enumSchema("How much it matters.", plan.Urgent, plan.Important, plan.Other)},
		{"estimatedPomodoros", countSchema("How many pomodoros it may take.", 0, 50)},
		{memberNotes, textSchema("At most 4 KB.")},
		{"completedAt", instantSchema("When it was done.")},
	})
}

func blockSchema() object {
	return closed([]string{"blockType", "startTimeIso", "endTimeIso"}, object{
		{"blockId", idSchema("Its id; made here for a new block that has none.", repository.BlockPrefix)},
		{"blockType", enumSchema("What the time is for.", plan.BlockTypes()...)},
		{"startTimeIso", instantSchema("When it begins: on the plan's day, wherever that is.")},
		{"endTimeIso", instantSchema("When it ends.")},
		{memberTitle, object{{"type", "string"}, {"maxLength", 500}}},
		{memberActionID, actionIDSchema("Of a POMODORO: the action that it is for, one of the to-dos.")},
		{"pomodoroIndex", countSchema("Of a POMODORO: which of the action's, from 1.", 1, 50)},
	})
}

// headsOfResult returns the members of a batch's result for a write to a repository.
func headsOfResult() object {
	return append(headMembers(), member{memberPlan, schemaRef(headSchema)}, member{memberValues, schemaRef(headSchema)})
}

func planSchemas() object {
	lists := object{
		{memberTodos, atMost(plan.MaxTodos, listOf(schemaRef(planTodo)))},
		{memberBlocks, atMost(plan.MaxBlocks, listOf(schemaRef(planBlock)))},
	}
	part := record([]string{memberTodos, memberBlocks}, lists)
	day := object{{memberDate, object{{"type", "string"}, {"format", "date"}}}}
	moved := record([]string{memberActionID, "before", "after"}, object{
		{memberActionID, actionIDSchema("Whose to-do.")},
		{"before", object{{"type", "integer"}}}, {"after", object{{"type", "integer"}}},
	})
	return object{
		{planTodo, todoSchema()},
		{planBlock, blockSchema()},
		{planCommit, closed([]string{memberReason, memberTodos, memberBlocks}, append(
			commitMembers(memberReason, plan.ReasonMorningPlan, plan.ReasonMiddayReplan, plan.ReasonRollover,
				plan.ReasonCompletion), lists...,
		))},
		{planRevision, record([]string{memberDate, memberTodos, memberBlocks},
			append(append(day, entryMembers(memberReason)...), lists...))},
		{planDiff, record([]string{"added", "removed", "changed", "moved"}, object{
			{"added", part}, {"removed", part},
			{"changed", record([]string{memberTodos, memberBlocks}, object{
				{memberTodos, changesOf(schemaRef(planTodo))}, {memberBlocks, changesOf(schemaRef(planBlock))},
			})},
			{"moved", listOf(moved)},
		})},
		{planRollover, record([]string{memberPlan, memberCarried, "left"}, object{
			{memberPlan, schemaRef(planRevision)},
			{memberCarried, append(listOf(actionIDSchema("An action.")), member{"description",
				"The actions whose to-dos were appended; none if nothing was to be changed, or it was done before."})},
			{"left", listOf(record([]string{memberActionID, memberReason}, object{
				{memberActionID, actionIDSchema("An action whose to-do is unfinished and was not appended.")},
				{memberReason, enumSchema("What the values tree says of it now.", plan.LeftCompleted, plan.LeftArchived,
					plan.LeftDeleted, plan.LeftMissing)},
			}))},
		})},
		{planCompletion, record([]string{memberPlan, memberValues, "action", "planChanged", "valuesChanged"}, object{
			{memberPlan, schemaRef(planRevision)}, {memberValues, schemaRef(headSchema)}, {"action", schemaRef(valuesNode)},
			{"planChanged", flagSchema("The plan has a new revision.")},
			{"valuesChanged", flagSchema("The values tree has a new revision.")},
		})},
	}
}
