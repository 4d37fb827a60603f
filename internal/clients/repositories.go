package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oapi-codegen/nullable"
	types "github.com/oapi-codegen/runtime/types"

	"nexus/clients/generated/nexus"
)

// repositories commits a values tree and a day's plan for one of its actions, and completes the action in both.
func (f *flow) repositories(ctx context.Context) error {
	driver, action := "drv_"+f.uuid(), "act_"+f.uuid()
	tree, err := f.CommitValuesWithResponse(ctx, &nexus.CommitValuesParams{}, nexus.ValuesCommit{
		Message: "Begun", Source: nexus.ValuesCommitSourceWeeklyReview,
		Nodes: &[]nexus.ValuesNode{
			{NodeId: driver, NodeType: nexus.ValuesNodeNodeTypeDRIVER, Title: "Stay healthy"},
			{NodeId: action, NodeType: nexus.ValuesNodeNodeTypeACTION, Title: "Run", DriverId: &driver},
		},
		Edges: &[]nexus.ValuesEdge{{ParentNodeId: driver, ChildNodeId: action, Order: 1}},
	})
	if err != nil {
		return err
	}
	if err := answered("commit the tree", 201, tree.HTTPResponse, tree.Body, nil); err != nil {
		return err
	}
	second, err := f.CommitValuesWithResponse(ctx, &nexus.CommitValuesParams{}, nexus.ValuesCommit{
		Message: "Said better", Source: nexus.ValuesCommitSourceDailyUpdate,
		ParentRevId: nullable.NewNullableWithValue(tree.JSON201.RevId),
		Operations: &[]nexus.ValuesOperation{
			{Op: nexus.ValuesOperationOpUpdate, NodeId: &action, Title: pointer("Run in the park")},
		},
	})
	if err != nil {
		return err
	}
	if err := answered("edit the tree", 201, second.HTTPResponse, second.Body, nil); err != nil {
		return err
	}
	children, err := f.GetValuesChildrenWithResponse(ctx, driver, &nexus.GetValuesChildrenParams{})
	if err != nil {
		return err
	}
	if err := errors.Join(
		answered("list children", 200, children.HTTPResponse, children.Body, nil),
		equal("the driver's child", action, children.JSON200.Items[0].ChildNodeId),
	); err != nil {
		return err
	}
	return f.plan(ctx, action)
}

func (f *flow) plan(ctx context.Context, action string) error {
	day := types.Date{Time: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
	plan, err := f.CommitPlanWithResponse(ctx, day, &nexus.CommitPlanParams{}, nexus.PlanCommit{
		Reason: nexus.PlanCommitReasonMorningPlan,
		Todos: []nexus.PlanTodo{
			{ActionId: action, Classification: nexus.PlanTodoClassificationImportant, EstimatedPomodoros: pointer(1)},
		},
		Blocks: []nexus.PlanBlock{{
			BlockType: nexus.PlanBlockBlockTypePOMODORO, StartTimeIso: day.Add(9 * time.Hour),
			EndTimeIso: day.Add(9*time.Hour + 25*time.Minute), ActionId: &action, PomodoroIndex: pointer(1),
		}},
	})
	if err != nil {
		return err
	}
	if err := answered("commit the plan", 201, plan.HTTPResponse, plan.Body, nil); err != nil {
		return err
	}
	done, err := f.CompletePlanWithResponse(ctx, day, &nexus.CompletePlanParams{},
		nexus.CompletePlanJSONRequestBody{ActionId: action})
	if err != nil {
		return err
	}
	if err := answered("complete the action", 200, done.HTTPResponse, done.Body, nil); err != nil {
		return err
	}
	history, err := f.ListPlanRevisionsWithResponse(ctx, day, &nexus.ListPlanRevisionsParams{})
	if err != nil {
		return err
	}
	if err := errors.Join(
		answered("read the history", 200, history.HTTPResponse, history.Body, nil),
		equal("revisions of the plan", 2, len(history.JSON200.Items)),
		equal("both changed", true, done.JSON200.PlanChanged && done.JSON200.ValuesChanged),
	); err != nil {
		return err
	}
	if done.JSON200.Plan.Todos[0].CompletedAt == nil {
		return fmt.Errorf("the to-do of the plan is not completed: %s", done.Body)
	}
	return nil
}
