package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oapi-codegen/nullable"

	"nexus/clients/generated/nexus"
)

// links makes a note with a link to a task, and one more, and finds the note from the task's side.
func (f *flow) links(ctx context.Context) error {
	task, err := f.CreateTaskWithResponse(ctx, &nexus.CreateTaskParams{}, nexus.TaskCreate{Title: "Buy paint"})
	if err != nil {
		return err
	}
	if err := answered("create a task", 201, task.HTTPResponse, task.Body, nil); err != nil {
		return err
	}
	note, err := f.CreateNoteWithResponse(ctx, &nexus.CreateNoteParams{}, nexus.NoteCreate{
		Title: "Colours", Links: &[]nexus.Link{
			{TargetType: nexus.LinkTargetTypeTASK, TargetId: task.JSON201.TaskId, Relation: pointer("for")},
		},
	})
	if err != nil {
		return err
	}
	if err := answered("create a note", 201, note.HTTPResponse, note.Body, nil); err != nil {
		return err
	}
	other, err := f.CreateNoteWithResponse(ctx, &nexus.CreateNoteParams{}, nexus.NoteCreate{Title: "Shops"})
	if err != nil {
		return err
	}
	linked, err := f.AddNoteLinkWithResponse(ctx, other.JSON201.NoteId, nexus.AddNoteLinkParamsTargetTypeTASK,
		task.JSON201.TaskId,
		&nexus.AddNoteLinkParams{}, nexus.AddNoteLinkJSONRequestBody{})
	if err != nil {
		return err
	}
	if err := answered("add a link", 200, linked.HTTPResponse, linked.Body, nil); err != nil {
		return err
	}
	return f.backlinks(ctx, task.JSON201.TaskId)
}

// backlinks follow the stream, so the flow asks for them until both notes are there.
func (f *flow) backlinks(ctx context.Context, task string) error {
	var titles []string
	for range 100 {
		res, err := f.ListTaskBacklinksWithResponse(ctx, task, &nexus.ListTaskBacklinksParams{Limit: pointer(10)})
		if err != nil {
			return err
		}
		if err := answered("list backlinks", 200, res.HTTPResponse, res.Body, nil); err != nil {
			return err
		}
		titles = nil
		for _, item := range res.JSON200.Items {
			note, err := item.AsNote()
			if err != nil {
				return err
			}
			titles = append(titles, string(note.EntityType)+" "+note.Title)
		}
		if len(titles) == 2 {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("the task is linked from %v", titles)
}

// settings reads and changes settings and restores them with null.
func (f *flow) settings(ctx context.Context) error {
	me, err := f.GetMeWithResponse(ctx)
	if err != nil {
		return err
	}
	if err := answered("read the settings", 200, me.HTTPResponse, me.Body, nil); err != nil {
		return err
	}
	changed, err := f.UpdateMeWithResponse(ctx, &nexus.UpdateMeParams{IfMatch: *me.Headers200.ETag}, nexus.UserMetaPatch{
		DefaultTzid: nullable.NewNullableWithValue("Europe/London"),
		Preferences: nullable.NewNullableWithValue(nexus.UserMetaPatchPreferences{
			DefaultEventDuration: nullable.NewNullableWithValue(nexus.UserMetaPatchPreferencesDefaultEventDuration(45)),
			WeekStart:            nullable.NewNullNullable[nexus.UserMetaPatchPreferencesWeekStart](),
		}),
	})
	if err != nil {
		return err
	}
	if err := answered("change the settings", 200, changed.HTTPResponse, changed.Body, nil); err != nil {
		return err
	}
	stats, err := f.GetStatsWithResponse(ctx, &nexus.GetStatsParams{})
	return errors.Join(
		equal("the zone", "Europe/London", changed.JSON200.DefaultTzid),
		equal("an event's length", 45, int(changed.JSON200.Preferences.DefaultEventDuration)),
		answered("read the statistics", 200, stats.HTTPResponse, stats.Body, err),
	)
}

// batch creates and changes in one request; a failed command has a reason beside the successful ones.
func (f *flow) batch(ctx context.Context) error {
	id, first, stale := "task_"+f.uuid(), "b1", 1
	commands := make([]nexus.Command, 3)
	if err := errors.Join(
		commands[0].FromCreateTaskCommand(nexus.CreateTaskCommand{
			Id: "b1", Data: nexus.TaskCreate{TaskId: &id, Title: "On the train"},
		}),
		commands[1].FromUpdateTaskCommand(nexus.UpdateTaskCommand{Id: "b2", ExpectedAfter: &first, Data: nexus.UpdateTaskData{
			TaskId: id, Status: nullable.NewNullableWithValue(nexus.UpdateTaskDataStatusCOMPLETED),
		}}),
		commands[2].FromDeleteTaskCommand(nexus.DeleteTaskCommand{
			Id: "b3", ExpectedVersion: &stale, Data: nexus.DeleteTaskData{TaskId: id},
		}),
	); err != nil {
		return err
	}
	res, err := f.RunCommandsWithResponse(ctx, nexus.RunCommandsJSONRequestBody{Commands: commands})
	if err != nil {
		return err
	}
	if err := answered("carry out a batch", 200, res.HTTPResponse, res.Body, nil); err != nil {
		return err
	}
	var statuses []int
	for _, r := range res.JSON200.Results {
		statuses = append(statuses, r.Status)
	}
	if err := equal("the batch", "[201 200 412]", fmt.Sprint(statuses)); err != nil {
		return err
	}
	task, err := res.JSON200.Results[1].Entity.AsTask()
	if err != nil {
		return err
	}
	return errors.Join(
		equal("the task's status", nexus.TaskStatusCOMPLETED, task.Status),
		equal("the version that the change made", 2, *res.JSON200.Results[1].Version),
		equal("the version now", 2, *res.JSON200.Results[2].Problem.CurrentVersion),
	)
}

// refusals checks that programs can read problems like any other answer.
func (f *flow) refusals(ctx context.Context) error {
	task, err := f.CreateTaskWithResponse(ctx, &nexus.CreateTaskParams{}, nexus.TaskCreate{Title: "Call back"})
	if err != nil {
		return err
	}
	id := task.JSON201.TaskId
	stale, err := f.UpdateTaskWithResponse(ctx, id, &nexus.UpdateTaskParams{IfMatch: tag(7)},
		nexus.TaskPatch{Title: nullable.NewNullableWithValue("x")})
	if err != nil {
		return err
	}
	missing, err := f.GetTaskWithResponse(ctx, "task_"+f.uuid(), &nexus.GetTaskParams{})
	if err != nil {
		return err
	}
	same, err := f.GetTaskWithResponse(ctx, id, &nexus.GetTaskParams{IfNoneMatch: task.Headers201.ETag})
	if err != nil {
		return err
	}
	gone, err := f.DeleteTaskWithResponse(ctx, id, &nexus.DeleteTaskParams{IfMatch: *task.Headers201.ETag})
	if err != nil {
		return err
	}
	left, err := f.GetTaskWithResponse(ctx, id, &nexus.GetTaskParams{})
	if err != nil {
		return err
	}
	return errors.Join(
		answered("a stale change", 412, stale.HTTPResponse, stale.Body, nil),
		equal("the version now", 1, *stale.ApplicationproblemJSON412.CurrentVersion),
		answered("what is not there", 404, missing.HTTPResponse, missing.Body, nil),
		answered("what is known", 304, same.HTTPResponse, same.Body, nil),
		answered("delete", 204, gone.HTTPResponse, gone.Body, nil),
		answered("what was deleted", 410, left.HTTPResponse, left.Body, nil),
		equal("why it left", nexus.ProblemReasonDeleted, *left.ApplicationproblemJSON410.Reason),
	)
}
