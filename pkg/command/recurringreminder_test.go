package command_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const (
	// It is noon on 1 December. The first trigger was on 28 November at nine in New York, 14:00 UTC.
	nineInNewYork = `{"title":"r","triggerUtc":"2025-11-28T14:00:00Z","tzid":"America/New_York","rrule":"FREQ=DAILY%s"}`
	nineFloating  = `{"title":"r","triggerUtc":"2025-11-28T09:00:00","rrule":"FREQ=DAILY%s"}`
)

// state shows the fields that actions move: status, trigger, and the snoozed occurrence with its end and count.
func state(it item.Item) string {
	text := it.Str("status") + " " + it.Str("triggerUtc")[5:16]
	if product.TriggerDone(it) {
		text += " done"
	}
	if s := it.Map("snoozeState"); s != nil {
		text += fmt.Sprintf(", %s until %s, %d", s.Str("occurrenceUtc")[5:16], s.Str("untilUtc")[5:16], s.Int("count"))
	}
	return text
}

func TestCompleteReminder_actsOnThePresentOccurrence(t *testing.T) {
	t.Parallel()
	snooze := func(id string) command.Command { return command.SnoozeReminder{ID: id, Minutes: minutes(30)} }
	complete := func(id string) command.Command { return command.CompleteReminder{ID: id} }
	dismiss := func(id string) command.Command { return command.DismissReminder{ID: id} }
	end := func(id string) command.Command { return command.DismissReminder{ID: id, Series: true} }
	type action = func(id string) command.Command
	type step struct {
		after time.Duration
		act   action
		want  string
	}
	for name, c := range map[string]struct {
		fields, more string
		trigger      string // what a delivery made of it
		steps        []step
	}{
		"snoozed before anybody delivered it": {nineInNewYork, "", "", []step{
			{0, snooze, "SNOOZED 12-01T14:00, 11-30T14:00 until 12-01T12:30, 1"},
			{time.Minute, snooze, "SNOOZED 12-01T14:00, 11-30T14:00 until 12-01T12:31, 2"},
			{0, complete, "PENDING 12-01T14:00"},
			{0, complete, "PENDING 12-01T14:00"},
		}},
		"snoozed after its delivery": {nineInNewYork, "", "2025-12-01T14:00:00Z", []step{
			{0, snooze, "SNOOZED 12-01T14:00, 11-30T14:00 until 12-01T12:30, 1"},
			{24 * time.Hour, snooze, "SNOOZED 12-01T14:00, 11-30T14:00 until 12-02T12:30, 2"},
		}},
		"completed in time, and again when the next is due": {nineInNewYork, "", "2025-12-01T14:00:00Z", []step{
			{0, complete, "PENDING 12-01T14:00"},
			{2 * time.Hour, complete, "PENDING 12-02T14:00"},
			{time.Hour, dismiss, "PENDING 12-02T14:00"},
		}},
		"put off before its first trigger": {
			`{"title":"r","triggerUtc":"2025-12-03T14:00:00Z","tzid":"UTC","rrule":"FREQ=WEEKLY"%s}`, "", "", []step{
				{0, snooze, "SNOOZED 12-10T14:00, 12-03T14:00 until 12-01T12:30, 1"},
				{0, snooze, "SNOOZED 12-10T14:00, 12-03T14:00 until 12-01T12:30, 2"},
			}},
		"completed before its first trigger": {
			`{"title":"r","triggerUtc":"2025-12-03T14:00:00Z","tzid":"UTC","rrule":"FREQ=WEEKLY"%s}`, "", "", []step{
				{0, complete, "PENDING 12-10T14:00"},
			}},
		"the last one": {nineInNewYork, ";COUNT=3", "", []step{
			{0, complete, "COMPLETED 11-30T14:00 done"},
		}},
		"the last one, snoozed": {nineInNewYork, ";COUNT=3", "2025-11-30T14:00:00Z", []step{
			{0, snooze, "SNOOZED 11-30T14:00 done, 11-30T14:00 until 12-01T12:30, 1"},
			{0, snooze, "SNOOZED 11-30T14:00 done, 11-30T14:00 until 12-01T12:30, 2"},
			{0, dismiss, "DISMISSED 11-30T14:00 done"},
		}},
		"the last but one, snoozed": {nineInNewYork, ";COUNT=4", "2025-12-01T14:00:00Z", []step{
			{0, snooze, "SNOOZED 12-01T14:00, 11-30T14:00 until 12-01T12:30, 1"},
			{3 * time.Hour, complete, "PENDING 12-01T14:00"},
			{0, complete, "COMPLETED 12-01T14:00 done"},
		}},
		"all of them": {nineInNewYork, "", "", []step{
			{0, snooze, "SNOOZED 12-01T14:00, 11-30T14:00 until 12-01T12:30, 1"},
			{0, end, "DISMISSED 12-01T14:00"},
			{0, end, "DISMISSED 12-01T14:00"},
		}},
		"floating, in the user's zone": {nineFloating, "", "", []step{
			{0, snooze, "SNOOZED 12-01T09:00, 11-30T14:00 until 12-01T12:30, 1"},
			{2*time.Hour - time.Second, complete, "PENDING 12-01T09:00"},
			{time.Second, complete, "PENDING 12-02T09:00"},
		}},
		"floating, the last one": {nineFloating, ";COUNT=3", "", []step{
			{0, snooze, "SNOOZED 11-30T09:00 done, 11-30T14:00 until 12-01T12:30, 1"},
			{0, complete, "COMPLETED 11-30T09:00 done"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"America/New_York"}`)}, at(0))
			id := b.create(product.Reminder(), fmt.Sprintf(c.fields, c.more))
			if c.trigger != "" {
				b.must(command.Update{Type: product.Reminder(), ID: id, Patch: doc(`{"triggerUtc":"` + c.trigger + `"}`)}, at(1))
			}
			first := b.stored(product.Reminder(), id).Str("firstTriggerUtc")
			for i, s := range c.steps {
				b.now = b.now.Add(s.after)
				before := b.stored(product.Reminder(), id)
				res := b.must(s.act(id))
				require.Equal(t, s.want, state(res.Item), "step %d", i)
				require.Equal(t, first, res.Item.Str("firstTriggerUtc"), "step %d", i)
				changes := int64(1)
				if state(before) == s.want {
					changes = 0
				}
				require.Equal(t, before.Int("version")+changes, res.Item.Int("version"), "step %d: nothing to do is no write", i)
			}
		})
	}
}

func TestCompleteReminder_countsARepetitionOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Reminder(), fmt.Sprintf(nineInNewYork, ""))
	for range 3 {
		res := b.must(command.CompleteReminder{ID: id}, key("tick"))
		require.Equal(t, "PENDING 12-01T14:00", state(res.Item))
		b.now = b.now.Add(3 * time.Hour)
	}
	require.Equal(t, int64(2), b.stored(product.Reminder(), id).Int("version"))
}

// The first two of its triggers were due, the third is at nine in New York today. None was delivered.
func TestCompleteReminder_takesTheOccurrenceThatItsUserSaw(t *testing.T) {
	t.Parallel()
	const saw = "2025-11-30T14:00:00Z"
	for name, act := range map[string]func(id, occurrence string) command.Command{
		"snooze": func(id, o string) command.Command {
			return command.SnoozeReminder{ID: id, Minutes: minutes(5), OccurrenceUtc: o}
		},
		"complete": func(id, o string) command.Command { return command.CompleteReminder{ID: id, OccurrenceUtc: o} },
		"dismiss":  func(id, o string) command.Command { return command.DismissReminder{ID: id, OccurrenceUtc: o} },
		"all": func(id, o string) command.Command {
			return command.DismissReminder{ID: id, Series: true, OccurrenceUtc: o}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"America/New_York"}`)}, at(0))
			for _, fields := range []string{fmt.Sprintf(nineInNewYork, ""), fmt.Sprintf(nineFloating, "")} {
				id := b.create(product.Reminder(), fields)
				before := b.stored(product.Reminder(), id)
				for _, other := range []string{"2025-11-29T14:00:00Z", "2025-12-01T14:00:00Z", "2025-11-30T14:00:01Z"} {
					_, err := b.do(act(id, other))
					requireState(t, err, "has the occurrence of "+saw+" for its present one")
				}
				_, err := b.do(act(id, "2025-11-30T09:00:00"))
				require.Equal(t, []string{"/occurrenceUtc"}, pointers(t, err))
				require.Equal(t, before, b.stored(product.Reminder(), id))

				res := b.must(act(id, "2025-11-30T09:00:00.5-05:00"), key("k"+id))
				require.Equal(t, int64(2), res.Item.Int("version"))
				require.True(t, b.must(act(id, "2025-11-30T09:00:00.5-05:00"), key("k"+id)).Replayed)
				_, err = b.do(act(id, saw), key("k"+id))
				require.ErrorIs(t, err, idempotency.ErrKeyReused)
			}
		})
	}
}

func TestCompleteReminder_takesTheSeenOccurrenceOfAOneTimeReminder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-03T14:00:00Z","tzid":"UTC"}`)
	b.must(command.SnoozeReminder{ID: id, Minutes: minutes(5), OccurrenceUtc: "2025-12-03T14:00:00Z"})
	_, err := b.do(command.CompleteReminder{ID: id, OccurrenceUtc: "2025-12-01T12:05:00Z"})
	requireState(t, err, "has the occurrence of 2025-12-03T14:00:00Z")
	b.must(command.CompleteReminder{ID: id, OccurrenceUtc: "2025-12-03T14:00:00Z"})
	b.must(command.CompleteReminder{ID: id, OccurrenceUtc: "2025-12-01T12:05:00Z"}) // it is completed already
}
