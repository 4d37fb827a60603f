package reminders_test

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// The commands are the real ones: what they keep for the reminders, dueSetAt and the count of exceptions, is part of
// what is held against the rules here.

// try carries out a command at the version its target has now. What is gone or in another state is left alone.
func (w *fixture) try(cmd command.Command, version int64) {
	w.Helper()
	_, err := w.commands.Do(w.Context(), command.Request{User: user, Command: cmd, ExpectedVersion: &version})
	w.requireDone(err)
}

func (w *fixture) requireDone(err error) {
	w.Helper()
	var gone *command.NotFoundError
	var state *command.StateError
	var refused *entity.ValidationError
	if !errors.As(err, &gone) && !errors.As(err, &state) && !(w.random && errors.As(err, &refused)) {
		require.NoError(w, err)
	}
}

func (w *fixture) versionOf(id string) int64 {
	it, _ := w.store.Get(w.Context(), w.key(id))
	return it.Int(entity.AttrVersion)
}

// versionOn is the version of an occurrence: its own if there is an exception, else the series', with that of the row
// that an undone exception left.
func (w *fixture) versionOn(master, date string) int64 {
	it, err := w.store.Get(w.Context(), w.key(entity.InstanceID(master, date)))
	if err == nil && it.Has(product.AttrModifiedFields) {
		return it.Int(entity.AttrVersion)
	}
	return w.versionOf(master) + it.Int(entity.AttrVersion)
}

func (w *fixture) object(doc string) map[string]any {
	w.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	out := map[string]any{}
	require.NoError(w, d.Decode(&out))
	return out
}

func (w *fixture) patchSeries(id, doc string) {
	w.Helper()
	w.try(command.UpdateSeries{ID: id, Patch: w.object(doc)}, w.versionOf(id))
}

func (w *fixture) except(master, date, doc string) {
	w.Helper()
	w.try(command.PutInstance{MasterID: master, Date: date, Fields: w.object(doc)}, w.versionOn(master, date))
}

func (w *fixture) cancel(master, date string) {
	w.Helper()
	w.try(command.CancelInstance{MasterID: master, Date: date}, w.versionOn(master, date))
}

func (w *fixture) deleteSeries(id string) {
	w.Helper()
	w.try(command.DeleteSeries{ID: id}, w.versionOf(id))
}

func (w *fixture) split(id, date, changes string) {
	w.Helper()
	w.try(command.SplitSeries{ID: id, Date: date, Changes: w.object(changes)}, w.versionOf(id))
}

func (w *fixture) patchReminder(id, doc string) {
	w.Helper()
	w.try(command.Update{Type: product.Reminder(), ID: id, Patch: w.object(doc)}, w.versionOf(id))
}

// act does what an action does, whatever version the reminder has.
func (w *fixture) act(cmd command.Command) {
	w.Helper()
	_, err := w.commands.Do(w.Context(), command.Request{User: user, Command: cmd})
	w.requireDone(err)
}

func snoozeFor(id string, minutes int64) command.Command {
	return command.SnoozeReminder{ID: id, Minutes: &minutes}
}
