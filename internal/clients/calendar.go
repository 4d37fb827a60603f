package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oapi-codegen/nullable"

	"nexus/clients/generated/nexus"
)

// series makes a series, changes one of its occurrences, and finds both kinds in the agenda.
func (f *flow) series(ctx context.Context) error {
	var body nexus.SeriesCreate
	if err := body.FromMasterCreate(nexus.MasterCreate{
		Title: "Stand-up", Rrule: "FREQ=DAILY;COUNT=5", StartUtc: pointer("2026-03-02T09:00:00Z"),
		EndUtc:    pointer("2026-03-02T09:15:00Z"),
		StartTzid: pointer("Europe/London"), Tags: &[]string{"team"}, ReminderMinutes: &[]int{10},
	}); err != nil {
		return err
	}
	made, err := f.CreateSeriesWithResponse(ctx, &nexus.CreateSeriesParams{IdempotencyKey: pointer("series-1")}, body)
	if err != nil {
		return err
	}
	if err := answered("create a series", 201, made.HTTPResponse, made.Body, nil); err != nil {
		return err
	}
	id := made.JSON201.MasterId
	moved, err := f.PutInstanceWithResponse(ctx, id, "20260303",
		&nexus.PutInstanceParams{IfMatch: tag(made.JSON201.Version)}, nexus.InstancePatch{
			Title: nullable.NewNullableWithValue("Stand-up with guests"), Location: nullable.NewNullNullable[string](),
		})
	if err != nil {
		return err
	}
	if err := answered("change an occurrence", 200, moved.HTTPResponse, moved.Body, nil); err != nil {
		return err
	}
	whole, err := f.GetSeriesWithResponse(ctx, id, &nexus.GetSeriesParams{})
	if err != nil {
		return err
	}
	if err := errors.Join(
		answered("read the series", 200, whole.HTTPResponse, whole.Body, nil),
		equal("exceptions", 1, len(whole.JSON200.Instances)),
	); err != nil {
		return err
	}
	found, err := f.GetEventWithResponse(ctx, moved.JSON200.EventId, &nexus.GetEventParams{})
	if err != nil {
		return err
	}
	if err := answered("read an occurrence", 200, found.HTTPResponse, found.Body, nil); err != nil {
		return err
	}
	one, err := found.JSON200.ValueByDiscriminator()
	if err != nil {
		return err
	}
	if _, is := one.(nexus.Instance); !is {
		return fmt.Errorf("the occurrence is read as %T", one)
	}
	return f.agenda(ctx)
}

// agenda reads the series' occurrences and a task, each with its type.
func (f *flow) agenda(ctx context.Context) error {
	task, err := f.CreateTaskWithResponse(ctx, &nexus.CreateTaskParams{}, nexus.TaskCreate{
		Title: "Write the report", DueUtc: pointer("2026-03-03T12:00:00Z"), DueTzid: pointer("Europe/London"),
		Priority: pointer(2),
	})
	if err != nil {
		return err
	}
	if err := answered("create a task", 201, task.HTTPResponse, task.Body, nil); err != nil {
		return err
	}
	agenda, err := f.GetAgendaWithResponse(ctx, &nexus.GetAgendaParams{
		From: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		return err
	}
	if err := answered("read the agenda", 200, agenda.HTTPResponse, agenda.Body, nil); err != nil {
		return err
	}
	var shown []string
	for _, item := range agenda.JSON200.Items {
		entry, err := item.ValueByDiscriminator()
		if err != nil {
			return err
		}
		switch entry := entry.(type) {
		case nexus.AgendaInstance:
			shown = append(shown, entry.Title+" "+entry.OccurrenceStart.Format(time.DateTime))
		case nexus.AgendaTask:
			shown = append(shown, entry.Title+" "+entry.OccurrenceStart.Format(time.DateTime))
		default:
			return fmt.Errorf("the agenda has a %T", entry)
		}
	}
	return equal("the agenda",
		"[Stand-up with guests 2026-03-03 09:00:00 Write the report 2026-03-03 12:00:00 Stand-up 2026-03-04 09:00:00]",
		fmt.Sprint(shown))
}
