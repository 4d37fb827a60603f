package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// seenAt is a request about the version that its user saw.
func (w *fixture) seenAt(version int64, cmd command.Command) error {
	w.Helper()
	_, err := w.commands.Do(w.Context(), command.Request{User: user, ExpectedVersion: &version, Command: cmd})
	return err
}

// A reminder that rings gets a new version, and what its user edits by the version before is no conflict. What another
// edit made past stays past.
func TestNotifier_makesNoEditOfItsUserAConflict(t *testing.T) {
	t.Parallel()
	rename := command.Update{Type: product.Reminder(), ID: "rem_1", Patch: map[string]any{"title": "Mine"}}
	again := command.Update{Type: product.Reminder(), ID: "rem_1", Patch: map[string]any{"title": "Again"}}
	for name, c := range map[string]struct {
		cmd  command.Command
		gone bool
	}{
		"a patch":  {cmd: rename},
		"a snooze": {cmd: snoozeFor("rem_1", 5)},
		"a delete": {cmd: command.Delete{Type: product.Reminder(), ID: "rem_1"}, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("rem_1", fmt.Sprintf(dailyRem, ""))
			require.NoError(t, w.seenAt(1, command.Update{
				Type: product.Reminder(), ID: "rem_1", Patch: map[string]any{"title": "First"},
			}))
			w.advance(26 * time.Hour) // two deliveries: versions 3 and 4
			require.Equal(t, int64(4), w.item("rem_1").Int("version"))
			require.Equal(t, int64(2), entity.EditVersion(w.item("rem_1")))

			var stale *command.StaleError
			for _, version := range []int64{1, 5} {
				require.ErrorAs(t, w.seenAt(version, c.cmd), &stale)
				require.Equal(t, int64(4), stale.Current)
				require.Equal(t, "First", stale.Item.Str("title"))
			}
			require.NoError(t, w.seenAt(2, c.cmd))
			if c.gone {
				require.Empty(t, w.rows(entity.ItemPrefix(product.TypeReminder)))
				return
			}
			it := w.item("rem_1")
			require.Equal(t, int64(5), it.Int("version"))
			require.NotContains(t, it, "editVersion", "a command removes it")
			require.Equal(t, "2025-12-03T13:00:00Z", it.Str("triggerUtc"), "the deliveries stand")
			for _, version := range []int64{2, 3, 4} {
				require.ErrorAs(t, w.seenAt(version, again), &stale, "%d is before the edit", version)
			}
			require.NoError(t, w.seenAt(5, again))
		})
	}
}

// The delivery is closed between the command's read and its write, or before a delete that reads nothing: the command
// goes on.
func TestNotifier_isNoConflictBesideACommand(t *testing.T) {
	t.Parallel()
	for name, cmd := range map[string]command.Command{
		"a patch":  command.Update{Type: product.Reminder(), ID: "rem_1", Patch: map[string]any{"title": "Mine"}},
		"a delete": command.Delete{Type: product.Reminder(), ID: "rem_1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step, isWithin := 1, true; isWithin; step++ {
				require.Less(t, step, 50)
				w := setup(t)
				w.create("rem_1", fmt.Sprintf(dailyRem, ""))
				w.runUntilIdle()
				w.to(noon.Add(time.Hour))
				isWithin = false
				w.fault.steps, w.fault.at, w.fault.die = 0, step, false
				w.fault.meddle = func() {
					isWithin = true
					w.fault.at = 0
					w.runUntilIdle()
				}
				require.NoError(t, w.fault.under(func() error { return w.seenAt(1, cmd) }), "step %d", step)
			}
		})
	}
}
