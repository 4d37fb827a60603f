package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

func minutes(n int64) *int64 { return &n }

func TestSnoozeReminder_keepsTheOccurrenceThatItPutsOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields     string
		occurrence string
	}{
		"in a zone": {`{"title":"r","triggerUtc":"2025-12-01T11:00:00Z","tzid":"Europe/Paris"}`,
			"2025-12-01T11:00:00Z"},
		"floating":                      {`{"title":"r","triggerUtc":"2025-12-01T08:00:00"}`, "2025-12-01T13:00:00Z"},
		"floating in a gap of the zone": {`{"title":"r","triggerUtc":"2026-03-08T02:30:00"}`, "2026-03-08T07:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"America/New_York"}`)}, at(0))
			id := b.create(product.Reminder(), c.fields)
			res := b.must(command.SnoozeReminder{ID: id, Minutes: minutes(15)})
			b.took("BatchGet Update")
			require.Equal(t, "SNOOZED", res.Item.Str("status"))
			require.Equal(t, item.Item{"untilUtc": item.String("2025-12-01T12:15:00Z"), "count": item.Int(1),
				"occurrenceUtc": item.String(c.occurrence)}, res.Item.Map("snoozeState"))
			require.Equal(t, "2025-12-01T12:15:00Z", res.Item.Str("GSI1SK"))
			require.Equal(t, item.FormatInstant(noon), res.Item.Str("dueSetAt"))

			b.now = noon.Add(time.Hour)
			res = b.must(command.SnoozeReminder{ID: id, UntilUtc: "2025-12-02T09:00:00.7+01:00"})
			require.Equal(t, item.Item{"untilUtc": item.String("2025-12-02T08:00:00Z"), "count": item.Int(2),
				"occurrenceUtc": item.String(c.occurrence)}, res.Item.Map("snoozeState"))
			require.Equal(t, int64(3), res.Item.Int("version"))
		})
	}
}

func TestSnoozeReminder_boundsItsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`)
	for _, c := range []struct {
		cmd   command.SnoozeReminder
		wrong string
	}{
		{command.SnoozeReminder{}, "/minutes"},
		{command.SnoozeReminder{Minutes: minutes(0)}, "/minutes"},
		{command.SnoozeReminder{Minutes: minutes(40320)}, ""},
		{command.SnoozeReminder{Minutes: minutes(40321)}, "/minutes"},
		{command.SnoozeReminder{Minutes: minutes(5), UntilUtc: "2025-12-02T00:00:00Z"}, "/minutes"},
		{command.SnoozeReminder{UntilUtc: "2025-12-01T12:00:00Z"}, "/untilUtc"},
		{command.SnoozeReminder{UntilUtc: "2025-12-01T12:00:01Z"}, ""},
		{command.SnoozeReminder{UntilUtc: "2026-12-02T12:00:00Z"}, ""},
		{command.SnoozeReminder{UntilUtc: "2026-12-02T12:00:01Z"}, "/untilUtc"},
		{command.SnoozeReminder{UntilUtc: "2025-12-03T12:00:00"}, "/untilUtc"},
	} {
		c.cmd.ID = id
		_, err := b.do(c.cmd)
		if c.wrong == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, []string{c.wrong}, pointers(t, err))
	}
}

func TestSnoozeReminder_answersARepetitionOnceItsTimeHasPassed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`)
	snooze := command.SnoozeReminder{ID: id, UntilUtc: "2025-12-01T12:30:00Z"}
	first := b.must(snooze, key("k"))
	b.now = noon.Add(time.Hour)
	again := b.must(snooze, key("k"))
	require.True(t, again.Replayed)
	require.Equal(t, first.Item.Int("version"), again.Item.Int("version"))
	_, err := b.do(snooze, key("another"))
	require.Equal(t, []string{"/untilUtc"}, pointers(t, err))
	snooze.ID = "rem_missing"
	_, err = b.do(snooze)
	require.Equal(t, []string{"/untilUtc"}, pointers(t, err), "what is wrong by itself is refused first")
}

func TestDismissReminder_isRefusedWhereTheStateForbidsIt(t *testing.T) {
	t.Parallel()
	snooze := func(id string) command.Command { return command.SnoozeReminder{ID: id, Minutes: minutes(5)} }
	complete := func(id string) command.Command { return command.CompleteReminder{ID: id} }
	dismiss := func(id string) command.Command { return command.DismissReminder{ID: id, Series: true} }
	type action = func(id string) command.Command
	for name, c := range map[string]struct {
		before  []action
		act     action
		status  string
		refused string
		trips   string
	}{
		"complete":                    {nil, complete, "COMPLETED", "", "BatchGet Update"},
		"dismiss":                     {nil, dismiss, "DISMISSED", "", "BatchGet Update"},
		"complete a snoozed one":      {[]action{snooze}, complete, "COMPLETED", "", "BatchGet Update"},
		"complete twice":              {[]action{complete}, complete, "COMPLETED", "", "BatchGet"},
		"dismiss twice":               {[]action{dismiss}, dismiss, "DISMISSED", "", "BatchGet"},
		"complete a dismissed one":    {[]action{dismiss}, complete, "DISMISSED", "DISMISSED already", "BatchGet"},
		"dismiss a completed one":     {[]action{complete}, dismiss, "COMPLETED", "COMPLETED already", "BatchGet"},
		"snooze a completed one":      {[]action{complete}, snooze, "COMPLETED", "cannot be snoozed", "BatchGet"},
		"snooze a dismissed one":      {[]action{dismiss}, snooze, "DISMISSED", "cannot be snoozed", "BatchGet"},
		"snooze one that was snoozed": {[]action{snooze}, snooze, "SNOOZED", "", "BatchGet Update"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`)
			for _, act := range c.before {
				b.must(act(id))
			}
			b.trips()
			_, err := b.do(c.act(id))
			b.took(c.trips)
			if c.refused != "" {
				requireState(t, err, c.refused)
			} else {
				require.NoError(t, err)
			}
			stored := b.stored(product.Reminder(), id)
			require.Equal(t, c.status, stored.Str("status"))
			require.Equal(t, c.status == "SNOOZED", stored.Has("snoozeState"))
			require.Equal(t, c.status != "SNOOZED", stored.Has("completedAt"))
		})
	}
}

func TestCompleteReminder_decidesAgainWhenTheReminderMoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`)
	b.once("Update", memory.Before, func() error {
		b.must(command.Update{Type: product.Reminder(), ID: id, Patch: doc(`{"title":"s"}`)}, at(1))
		return nil
	})
	res := b.must(command.CompleteReminder{ID: id})
	require.Equal(t, "s", res.Item.Str("title"))
	require.Equal(t, int64(3), res.Item.Int("version"))

	other := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`)
	b.once("Update", memory.Before, func() error {
		b.must(command.DismissReminder{ID: other})
		return nil
	})
	_, err := b.do(command.CompleteReminder{ID: other})
	requireState(t, err, "DISMISSED already")
	_, err = b.do(command.CompleteReminder{ID: "task_1"})
	requireNotFound(t, err, "")
}
