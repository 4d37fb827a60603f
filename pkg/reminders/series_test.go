package reminders_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// dailyAt is a series at two in the afternoon in London, which is UTC in December.
const dailyAt = `{"title":"Standup","startUtc":"2025-12-01T14:00:00Z","endUtc":"2025-12-01T14:30:00Z",` +
	`"startTzid":"Europe/London","rrule":"FREQ=DAILY","reminderMinutes":[%s]}`

func TestNotifier_remindsOfOneOccurrenceAfterTheOther(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "15,1440"))
	w.runUntilIdle()
	require.Equal(t, []string{"mst_1 -1440 01T14:00", "mst_1 -15 01T13:45"}, w.schedules())
	w.advance(49 * time.Hour)
	require.Equal(t, []string{"mst_1 -15 01T13:45", "mst_1 -1440 01T14:00", "mst_1 -15 02T13:45", "mst_1 -1440 02T14:00"},
		w.published())
	require.Equal(t, []string{"mst_1 -1440 03T14:00", "mst_1 -15 03T13:45"}, w.schedules())
	require.Equal(t, 4, w.counts[reminders.Delivered])
	require.Zero(t, w.counts[reminders.Late]+w.counts[reminders.Missed])
	require.Equal(t, int64(1), w.item("mst_1").Int("version"), "a delivery leaves a series alone")
	w.requireExact()
	w.requireNothingLost()
}

func TestConsumer_countsExceptionsWhereTheyAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		except    func(w *fixture)
		published []string // of three days
	}{
		"moved later": {func(w *fixture) { w.except("mst_1", "20251202", `{"startUtc":"2025-12-02T18:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 02T17:45", "mst_1 -15 03T13:45"}},
		"moved behind the next": {func(w *fixture) { w.except("mst_1", "20251202", `{"startUtc":"2025-12-03T18:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45", "mst_1 -15 03T17:45"}},
		"moved onto the next": {func(w *fixture) { w.except("mst_1", "20251202", `{"startUtc":"2025-12-03T14:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45", "mst_1 -15 03T13:45"}},
		"moved before the former": {func(w *fixture) { w.except("mst_1", "20251203", `{"startUtc":"2025-12-01T20:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 01T19:45", "mst_1 -15 02T13:45"}},
		"moved here from far": {func(w *fixture) { w.except("mst_1", "20260601", `{"startUtc":"2025-12-02T20:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 02T13:45", "mst_1 -15 02T19:45", "mst_1 -15 03T13:45"}},
		"moved to the past": {func(w *fixture) { w.except("mst_1", "20251202", `{"startUtc":"2025-12-01T12:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45"}},
		"to a whole day": {func(w *fixture) {
			w.except("mst_1", "20251202",
				`{"isAllDay":true,"startDate":"2025-12-02"}`)
		}, []string{"mst_1 -15 01T13:45", "mst_1 -15 01T23:45", "mst_1 -15 03T13:45"}},
		"cancelled": {func(w *fixture) { w.cancel("mst_1", "20251202") },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45"}},
		"cancelled and taken back": {func(w *fixture) { w.cancel("mst_1", "20251202"); w.except("mst_1", "20251202", `{}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 02T13:45", "mst_1 -15 03T13:45"}},
		"a date without one": {func(w *fixture) { w.patchSeries("mst_1", `{"exdate":["20251202"]}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45"}},
		"with reminders of its own": {func(w *fixture) { w.except("mst_1", "20251202", `{"reminderMinutes":[5,60]}`) },
			[]string{"mst_1 -15 01T13:45", "inst_20251202_1 -60 02T13:00", "inst_20251202_1 -5 02T13:55", "mst_1 -15 03T13:45"}},
		"with none of its own": {func(w *fixture) { w.except("mst_1", "20251202", `{"reminderMinutes":null}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45"}},
		"its own, and moved": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5],"startUtc":"2025-12-02T10:00:00Z"}`)
		}, []string{"mst_1 -15 01T13:45", "inst_20251202_1 -5 02T09:55", "mst_1 -15 03T13:45"}},
		"its own, and cancelled": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.cancel("mst_1", "20251202")
		}, []string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45"}},
		"its own, taken back": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.except("mst_1", "20251202", `{"title":"Other"}`)
		}, []string{"mst_1 -15 01T13:45", "mst_1 -15 02T13:45", "mst_1 -15 03T13:45"}},
		"its own follow the series": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
		}, []string{"mst_1 -15 01T15:45", "inst_20251202_1 -5 02T15:55", "mst_1 -15 03T15:45"}},
		"its own time stays": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5],"startUtc":"2025-12-02T10:00:00Z"}`)
			w.runUntilIdle()
			w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
		}, []string{"mst_1 -15 01T15:45", "inst_20251202_1 -5 02T09:55", "mst_1 -15 03T15:45"}},
		"its own, on a date lost": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.patchSeries("mst_1", `{"rrule":"FREQ=DAILY;INTERVAL=2"}`)
		}, []string{"mst_1 -15 01T13:45", "mst_1 -15 03T13:45"}},
		"its own, series without": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.patchSeries("mst_1", `{"reminderMinutes":null}`)
		}, []string{"inst_20251202_1 -5 02T13:55"}},
		"its own, series cancelled": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.patchSeries("mst_1", `{"status":"CANCELLED"}`)
		}, []string{}},
		"its own, series deleted": {func(w *fixture) {
			w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
			w.runUntilIdle()
			w.deleteSeries("mst_1")
		}, []string{}},
		"the series ends": {func(w *fixture) { w.patchSeries("mst_1", `{"rruleUntil":"2025-12-02T14:00:00Z"}`) },
			[]string{"mst_1 -15 01T13:45", "mst_1 -15 02T13:45"}},
		"moved beyond the end stays": {func(w *fixture) {
			w.patchSeries("mst_1", `{"rrule":"FREQ=DAILY;COUNT=2"}`)
			w.except("mst_1", "20251202", `{"startUtc":"2025-12-03T18:00:00Z"}`)
		}, []string{"mst_1 -15 01T13:45", "mst_1 -15 03T17:45"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, settled := range []bool{true, false} {
				w := setup(t)
				w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
				if settled {
					w.runUntilIdle()
				}
				c.except(w)
				w.runUntilIdle()
				w.requireExact()
				w.advance(72 * time.Hour)
				require.Equal(t, c.published, w.published())
				w.requireExact()
				w.requireNothingLost()
				require.Zero(t, w.counts[reminders.Missed])
			}
		})
	}
}

func TestConsumer_remindsOfEachOccurrenceOnceAfterASplit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.except("mst_1", "20251204", `{"reminderMinutes":[30]}`)
	w.advance(26 * time.Hour) // the second is delivered
	w.split("mst_1", "20251203", `{"startUtc":"2025-12-03T16:00:00Z"}`)
	w.advance(50 * time.Hour)
	var due []string
	for _, e := range w.bus.details(t) {
		due = append(due, e.DueUtc[8:16])
	}
	require.Equal(t, []string{"01T14:00", "02T14:00", "03T16:00", "04T15:30"}, due)
	w.requireExact()
	w.requireNothingLost()
}

func TestReminderDue_namesTheOccurrenceAndItsPresentTime(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.except("mst_1", "20251202", `{"title":"Retrospective","startUtc":"2025-12-02T18:00:00Z"}`)
	w.except("mst_1", "20251203", `{"reminderMinutes":[10]}`)
	w.advance(72 * time.Hour)
	events := w.bus.details(t)
	require.Len(t, events, 3)
	for i, want := range []reminders.ReminderDue{
		{ItemType: "MASTER", ItemID: "mst_1", Title: "Standup", OccurrenceUtc: "2025-12-01T14:00:00Z",
			OccurrenceDate: "20251201", DueUtc: "2025-12-01T14:00:00Z"},
		{ItemType: "MASTER", ItemID: "mst_1", Title: "Retrospective", OccurrenceUtc: "2025-12-02T18:00:00Z",
			OccurrenceDate: "20251202", DueUtc: "2025-12-02T18:00:00Z"},
		{ItemType: "INSTANCE", ItemID: "inst_20251203_1", Title: "Standup", OccurrenceUtc: "2025-12-03T14:00:00Z",
			OccurrenceDate: "20251203", DueUtc: "2025-12-03T13:50:00Z", OffsetMinutes: 10},
	} {
		got := events[i]
		want.DeliveryID, want.UserID, want.OccurredAt, want.Notify = got.DeliveryID, got.UserID, got.OccurredAt, got.Notify
		require.Equal(t, want, got)
	}
	var keys []string
	for _, row := range w.rows(entity.ItemPrefix(entity.RowFired)) {
		keys = append(keys, row.Key().SK)
	}
	require.Equal(t, []string{
		"FIRED#inst_20251203_1#10#2025-12-03T14:00:00Z#2025-12-03T13:50:00Z",
		"FIRED#mst_1#0#2025-12-01T14:00:00Z#2025-12-01T14:00:00Z",
		"FIRED#mst_1#0#2025-12-02T14:00:00Z#2025-12-02T18:00:00Z",
	}, keys, "a delivery names the occurrence by its original start")
}

func TestReminderDue_hasTheSeriesTitleOnceAnOwnOneIsRemoved(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.except("mst_1", "20251201", `{"title":"Other"}`)
	w.except("mst_1", "20251202", `{"title":"Other","reminderMinutes":[5]}`)
	w.except("mst_1", "20251201", `{}`)
	w.except("mst_1", "20251202", `{"reminderMinutes":[5]}`)
	w.patchSeries("mst_1", `{"title":"Weekly"}`)
	w.advance(49 * time.Hour)
	require.Len(t, w.published(), 2)
	for _, e := range w.bus.details(t) {
		require.Equal(t, "Weekly", e.Title)
	}
}

func TestReminderDue_hasATitleOfOneLine(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("evt_1", fmt.Sprintf(eventAt, at(noon.Add(2*time.Hour)), "15"))
	// Rows from before the rule for titles are in tables.
	w.set("evt_1", entity.AttrTitle, item.String("two\r\nlines \u202egnp.exe \u200f(A)"))
	w.advance(3 * time.Hour)
	require.Len(t, w.published(), 1)
	require.Equal(t, "two lines  gnp.exe \u200f(A)", w.bus.details(t)[0].Title)
}

func TestNotifier_continuesAChainAfterAMissedOccurrence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
	w.except("mst_1", "20251204", `{"reminderMinutes":[15]}`)
	w.runUntilIdle()
	w.to(noon.Add(5*24*time.Hour + time.Hour)) // the 6th, 13:00: five have passed
	w.runUntilIdle()
	require.Equal(t, []string{"mst_1 -15 05T13:45"}, w.published(), "what is not a day old is late")
	require.Equal(t, []string{"mst_1 -15 06T13:45"}, w.schedules())
	require.Equal(t, 1, w.counts[reminders.Late])
	require.Positive(t, w.counts[reminders.Missed])
	w.requireExact()
	w.advance(25 * time.Hour)
	require.Equal(t, []string{"mst_1 -15 05T13:45", "mst_1 -15 06T13:45", "mst_1 -15 07T13:45"}, w.published())
	w.requireExact()
}

func TestNotifier_waitsForTheNextWeekAfterAMissedOccurrence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", `{"title":"Review","startUtc":"2025-12-01T14:00:00Z","startTzid":"UTC","rrule":"FREQ=WEEKLY",`+
		`"reminderMinutes":[0,60]}`)
	w.runUntilIdle()
	w.to(noon.Add(3 * 24 * time.Hour))
	w.runUntilIdle()
	require.Empty(t, w.published())
	require.Equal(t, []string{"mst_1 -0 08T14:00", "mst_1 -60 08T13:00"}, w.schedules())
	require.Equal(t, 2, w.counts[reminders.Missed])
	w.requireExact()
}

func TestConsumer_announcesNothingPastOfAnImportedSeries(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", `{"title":"Old","startUtc":"2015-12-01T11:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY",`+
		`"reminderMinutes":[0,30,40320]}`)
	w.runUntilIdle()
	w.deliver(w.history...)
	require.Empty(t, w.published())
	require.Zero(t, w.counts[reminders.Missed]+w.counts[reminders.Late])
	require.Equal(t, []string{"mst_1 -0 02T11:00", "mst_1 -30 02T10:30", "mst_1 -40320 02T11:00"}, w.schedules())
	w.requireExact()
}

func TestReminders_takeARevertForNoRequestAfterTheInstant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after func(w *fixture) }{
		"uncancelled": {func(w *fixture) { w.cancel("mst_1", "20251201") },
			func(w *fixture) { w.except("mst_1", "20251201", `{}`) }},
		"moved back": {func(w *fixture) { w.except("mst_1", "20251201", `{"startUtc":"2025-12-20T14:00:00Z"}`) },
			func(w *fixture) { w.except("mst_1", "20251201", `{}`) }},
		"its own taken back": {func(w *fixture) { w.except("mst_1", "20251201", `{"reminderMinutes":null}`) },
			func(w *fixture) { w.except("mst_1", "20251201", `{}`) }},
		"series uncancelled": {func(w *fixture) { w.patchSeries("mst_1", `{"status":"CANCELLED"}`) },
			func(w *fixture) { w.patchSeries("mst_1", `{"status":"CONFIRMED"}`) }},
		"date brought back": {func(w *fixture) { w.patchSeries("mst_1", `{"exdate":["20251201"]}`) },
			func(w *fixture) { w.patchSeries("mst_1", `{"exdate":null}`) }},
		"given its own": {func(*fixture) {},
			func(w *fixture) { w.advance(0); w.except("mst_1", "20251201", `{"reminderMinutes":[15,20]}`) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("mst_1", fmt.Sprintf(dailyAt, "15"))
			c.before(w)
			w.runUntilIdle()
			w.to(noon.Add(2 * time.Hour))
			c.after(w)
			w.runUntilIdle()
			require.LessOrEqual(t, len(w.published()), 1)
			if name != "given its own" {
				require.Empty(t, w.published())
			}
			require.Equal(t, []string{"mst_1 -15 02T13:45"}, w.schedules())
			w.requireExact()
		})
	}
}

func TestConsumer_movesAFloatingSeriesWithItsUser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", `{"title":"Pills","startUtc":"2025-12-01T20:00:00","rrule":"FREQ=DAILY","reminderMinutes":[0]}`)
	w.create("mst_2",
		`{"title":"Holiday","isAllDay":true,"startDate":"2025-12-24","rrule":"FREQ=YEARLY","reminderMinutes":[60]}`)
	w.create("mst_3", fmt.Sprintf(dailyAt, "0"))
	w.except("mst_1", "20251202", `{"startUtc":"2025-12-02T15:00:00Z","startTzid":"Europe/London"}`) // a real instant
	w.except("mst_3", "20251202", `{"startUtc":"2025-12-02T15:00:00","startTzid":null}`)             // a reading
	w.except("mst_1", "20251203", `{"reminderMinutes":[5]}`)
	w.except("mst_3", "20251203", `{"reminderMinutes":[5]}`)
	w.runUntilIdle()
	w.to(noon.Add(23 * time.Hour))
	w.runUntilIdle()
	require.Equal(t, []string{
		"inst_20251203_1 -5 03T19:55", "inst_20251203_3 -5 03T13:55", "mst_1 -0 02T15:00", "mst_2 -60 23T23:00",
		"mst_3 -0 02T15:00",
	}, w.schedules())
	w.moveTo("America/New_York")
	w.runUntilIdle()
	require.Equal(t, []string{
		"inst_20251203_1 -5 04T00:55", "inst_20251203_3 -5 03T13:55", "mst_1 -0 02T15:00", "mst_2 -60 24T04:00",
		"mst_3 -0 02T20:00",
	}, w.schedules())
	w.requireExact()
	w.advance(5 * time.Hour) // the real instant was delivered at 15:00
	w.moveTo("Asia/Tokyo")
	w.moveTo("Pacific/Honolulu")
	w.advance(72 * time.Hour)
	w.requireExact()
	n := 0
	for _, line := range w.published() {
		if line == "mst_1 -0 02T15:00" {
			n++
		}
	}
	require.Equal(t, 1, n, "an instant that does not float is delivered once, in whatever zone its series is")
}

func TestConsumer_reachesEachExceptionOfASeriesInBoundedCalls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	const own = 205
	for i := range own + 5 {
		doc := `{"reminderMinutes":[5]}`
		if i >= own {
			doc = `{"title":"x"}`
		}
		w.except("mst_1", noon.AddDate(0, 0, i).Format("20060102"), doc)
	}
	w.deliver(w.records()...)
	require.Len(t, w.schedules(), own+1)
	w.patchSeries("mst_1", `{"startUtc":"2025-12-01T16:00:00Z","endUtc":null}`)
	records := w.records()
	require.Len(t, records, 1)
	w.slowly()
	w.setOff(records[0])
	calls := w.carryOut()
	require.Greater(t, calls, 1, "each for 20 seconds")
	require.Less(t, calls, 5)
	for _, line := range w.schedules() {
		require.Regexp(t, `T1(4:55|5:55|5:00)$`, line)
	}
	before := w.counts[reminders.Scheduled]
	w.deliver(records...)
	require.Equal(t, before+1, w.counts[reminders.Scheduled], "a duplicate finds the cursor at its end")
	w.patchSeries("mst_1", `{"title":"Another"}`)
	w.deliver(w.records()...)
	require.Equal(t, before+2, w.counts[reminders.Scheduled], "what moves no occurrence reaches no exception")
	w.requireExact()
}

func TestConsumer_reschedulesASeriesWithManyDeliveries(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0,10,20,30,40,50,60,70,80,90"))
	w.advance(25 * 24 * time.Hour)
	require.Len(t, w.published(), 250)
	require.Len(t, w.bus.Events(), 250)
	w.deliver(w.history...)
	require.Len(t, w.bus.Events(), 250, "the deliveries after the page are found by their keys")
	w.requireExact()
	w.requireNothingLost()
}

func TestNotifier_skipsAnOccurrenceDeliveredByAFastClock(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.create("rem_1",
		fmt.Sprintf(`{"title":"r","triggerUtc":"%s","tzid":"UTC","rrule":"FREQ=DAILY"}`, at(noon.Add(2*time.Hour))))
	w.advance(2 * time.Hour)
	require.Len(t, w.published(), 2)
	w.now = w.now.Add(-30 * time.Second) // another machine
	w.deliver(w.history...)
	require.Equal(t, []string{"mst_1 -0 02T14:00", "rem_1 -0 02T14:00"}, w.schedules())
	w.advance(25 * time.Hour)
	require.Len(t, w.published(), 4)
}

func TestConsumer_parksADamagedSeries(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	it := w.item("mst_1").Clone()
	it["rrule"] = item.String("FREQ=NEVER")
	require.NoError(t, w.store.Load(t.Context(), []item.Item{it}))
	outcome := w.consumer.Apply(t.Context(), w.records()[:1])[0]
	require.Equal(t, change.Poison, outcome.Verdict)
	require.ErrorContains(t, outcome.Err, "damaged row: series USER#ann/MASTER#mst_1")
}

func TestReminders_announceNothingThatAnImportMovedIntoThePast(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.advance(25 * time.Hour)
	fields, errs := product.Instance().Parse(w.object(`{"title":"Standup","isAllDay":false,"status":"CONFIRMED",` +
		`"startUtc":"2025-12-02T12:30:00Z","endUtc":"2025-12-02T12:45:00Z","startTzid":"Europe/London",` +
		`"reminderMinutes":[0]}`))
	require.Empty(t, errs)
	results, err := w.commands.Import(t.Context(), user, []command.Imported{{
		Type: product.Master(), UID: "mst_1@nexus.app", Known: "mst_1", OnlyExceptions: true,
		ID: func(prefix string, k int) string { return fmt.Sprintf("%s_other%d", prefix, k) },
		Exceptions: []command.Exception{{
			Date: func(string) string { return "20251202" }, Fields: fields,
		}},
	}})
	require.NoError(t, err)
	require.Len(t, results[0].Exceptions, 1)
	require.NoError(t, results[0].Exceptions[0].Err)
	w.advance(0)
	require.Equal(t, []string{"mst_1 -0 01T14:00"}, w.published())
	require.Equal(t, []string{"mst_1 -0 03T14:00"}, w.schedules())
	w.requireExact()
}

func TestRedrive_takesUpADeliveryOfAnOccurrence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("mst_1", fmt.Sprintf(dailyAt, "0"))
	w.except("mst_1", "20251202", `{"title":"Own","reminderMinutes":[30],"startUtc":"2025-12-01T14:30:00Z"}`)
	w.runUntilIdle()
	w.to(noon.Add(2 * time.Hour))
	payloads := w.scheduler.due(w.now)
	require.Len(t, payloads, 2)
	for i, payload := range payloads {
		for step := 1; len(w.bus.Events()) == i; step++ {
			w.fault.at, w.fault.die, w.fault.steps = step, true, 0
			require.Error(t, w.fault.under(func() error { return w.notifier.Handle(t.Context(), payload) }))
		}
	}
	w.deleteSeries("mst_1")
	w.to(w.now.Add(11 * time.Minute))
	for _, row := range w.rows(entity.ItemPrefix(entity.RowFired)) {
		began, err := w.notifier.Redrive(t.Context(), row)
		require.NoError(t, err)
		require.True(t, began)
	}
	w.runUntilIdle()
	require.Len(t, w.published(), 2)
	titles := map[string]string{"INSTANCE": "Own", "MASTER": "Standup"}
	for _, e := range w.bus.details(t) {
		require.Equal(t, titles[e.ItemType], e.Title, "the event is as the delivery has it, without the series")
	}
	w.requireExact()
}
