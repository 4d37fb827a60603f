package reminders_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// fromTheTenth recurs at one in the afternoon in London, from 10 December on. It is noon on the first.
const fromTheTenth = `{"title":"Pills","triggerUtc":"2025-12-10T13:00:00Z","tzid":"Europe/London",` +
	`"rrule":"FREQ=DAILY%s"}`

func TestReminders_actOnWhatRangAfterAnEarlySnooze(t *testing.T) {
	t.Parallel()
	dismiss := func(w *fixture) { w.act(command.DismissReminder{ID: "rem_1"}) }
	complete := func(w *fixture) { w.act(command.CompleteReminder{ID: "rem_1"}) }
	again := func(w *fixture) { w.act(snoozeFor("rem_1", 55)) }
	for name, c := range map[string]struct {
		rule      string
		act       func(w *fixture) // at 13:05 on the first, five minutes after the snooze rang
		published string           // after that one, until the 13th
		status    string
	}{
		"dismissed":          {"", dismiss, "11T13:00 12T13:00", "PENDING"},
		"completed":          {"", complete, "11T13:00 12T13:00", "PENDING"},
		"snoozed":            {"", again, "01T14:00 11T13:00 12T13:00", "PENDING"},
		"dismissed twice":    {"", func(w *fixture) { dismiss(w); dismiss(w) }, "11T13:00 12T13:00", "PENDING"},
		"snoozed, dismissed": {"", func(w *fixture) { again(w); dismiss(w) }, "11T13:00 12T13:00", "PENDING"},
		"the last but one":   {";COUNT=2", complete, "11T13:00", "PENDING"},
		"the last":           {";COUNT=1", complete, "", "COMPLETED"},
		"the last, again":    {";COUNT=1", again, "01T14:00", "PENDING"},
		"another rule first": {"",
			func(w *fixture) { w.patchReminder("rem_1", `{"rrule":"FREQ=DAILY;INTERVAL=2"}`); dismiss(w) },
			"11T13:00", "PENDING"},
		"set again first": {"", func(w *fixture) {
			w.patchReminder("rem_1", `{"triggerUtc":"2025-12-09T13:00:00Z"}`)
			dismiss(w)
		},
			"10T13:00 11T13:00 12T13:00", "PENDING"},
		"left alone": {"", func(*fixture) {}, "11T13:00 12T13:00", "PENDING"},
	} {
		for release, delivered := range map[string]func(w *fixture){
			"this": func(*fixture) {}, "the one before": byTheReleaseBefore,
		} {
			t.Run(name+", delivered by "+release+" release", func(t *testing.T) {
				t.Parallel()
				w := setup(t)
				w.create("rem_1", fmt.Sprintf(fromTheTenth, c.rule))
				w.act(snoozeFor("rem_1", 60))
				w.advance(65 * time.Minute)
				delivered(w)
				require.Equal(t, []string{"rem_1 -0 01T13:00"}, w.published())
				c.act(w)
				w.advance(11*24*time.Hour + time.Hour)
				var due []string
				for _, line := range w.published()[1:] {
					due = append(due, strings.TrimPrefix(line, "rem_1 -0 "))
				}
				require.Equal(t, c.published, strings.Join(due, " "))
				require.Equal(t, c.status, w.item("rem_1").Str("status"))
				w.requireExact()
				w.requireNothingLost()
			})
		}
	}
}

// byTheReleaseBefore leaves the reminder as that release does when it closes a delivery: it does not say what rang.
func byTheReleaseBefore(w *fixture) {
	it := w.item("rem_1")
	require.True(w, it.Has(product.AttrFiredOccurrenceUtc))
	_, err := w.store.Update(w.Context(), table.Update{
		Key: it.Key(), Remove: []string{product.AttrFiredOccurrenceUtc, entity.AttrEditVersion}, If: table.Exists(),
	})
	require.NoError(w, err)
}

// A command of the release before sets a trigger and leaves what rang of the one that is no more.
func TestReminders_ringForATriggerOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ patch, snoozed, published string }{ // which is snoozed does not ring once more
		"one time from now on": {`{"rrule":null}`, "2025-12-11T13:00:00Z", "01T14:05"},
		"set earlier": {`{"triggerUtc":"2025-12-09T13:00:00Z"}`, "2025-12-09T13:00:00Z",
			"01T14:05 10T13:00 11T13:00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("rem_1", fmt.Sprintf(fromTheTenth, ""))
			w.act(snoozeFor("rem_1", 60))
			w.advance(65 * time.Minute)
			rang := w.item("rem_1")[product.AttrFiredOccurrenceUtc]
			require.NotNil(t, rang)
			w.patchReminder("rem_1", c.patch)
			_, err := w.store.Update(w.Context(), table.Update{
				Key: w.key("rem_1"), Set: item.Item{product.AttrFiredOccurrenceUtc: rang}, If: table.Exists(),
			})
			require.NoError(t, err)
			w.act(snoozeFor("rem_1", 60))
			require.Equal(t, c.snoozed, w.item("rem_1").Map(product.AttrSnoozeState).Str(product.SnoozeOccurrenceUtc))
			w.advance(10*24*time.Hour + time.Hour)
			var due []string
			for _, line := range w.published()[1:] {
				due = append(due, strings.TrimPrefix(line, "rem_1 -0 "))
			}
			require.Equal(t, c.published, strings.Join(due, " "))
		})
	}
}

// The present occurrence is the one that rang last until a later one is due, whichever was due in between.
func TestReminders_replaceThePresentOccurrenceByALaterOneOnly(t *testing.T) {
	t.Parallel()
	complete := func(w *fixture) { w.act(command.CompleteReminder{ID: "rem_1"}) }
	snooze := func(minutes int64) func(w *fixture) {
		return func(w *fixture) { w.act(snoozeFor("rem_1", minutes)) }
	}
	pass := func(days int, by time.Duration) func(w *fixture) {
		return func(w *fixture) { w.advance(time.Duration(days)*24*time.Hour + by) }
	}
	for name, c := range map[string]struct {
		rule    string
		steps   []func(w *fixture) // from noon of the first on
		present string
	}{
		"an earlier one is due, which was completed before": {
			"", []func(w *fixture){complete, snooze(60), pass(9, 2*time.Hour)}, "11T13:00",
		},
		"a later one is due": {
			"", []func(w *fixture){complete, snooze(60), pass(11, 2*time.Hour)}, "12T13:00",
		},
		"a later one rang before the snooze ended": {
			"", []func(w *fixture){pass(9, 2*time.Hour), snooze(1440), pass(1, time.Hour)}, "10T13:00",
		},
		"a later one is due after the snooze ended": {
			"", []func(w *fixture){pass(9, 2*time.Hour), snooze(1440), pass(2, 0)}, "12T13:00",
		},
		"the last rang before the snooze ended": {
			";COUNT=2", []func(w *fixture){pass(9, 2*time.Hour), snooze(1440), pass(1, time.Hour)}, "10T13:00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("rem_1", fmt.Sprintf(fromTheTenth, c.rule))
			for _, do := range c.steps {
				do(w)
			}
			w.act(snoozeFor("rem_1", 5))
			require.Equal(t, "2025-12-"+c.present+":00Z", w.item("rem_1").Map("snoozeState").Str("occurrenceUtc"))
			complete(w)
			require.Equal(t, c.rule != "", w.item("rem_1").Str("status") == product.StatusCompleted)
			w.runUntilIdle()
			w.requireExact()
		})
	}
}

// What rang is dismissed before its delivery is closed, and dismissed once more afterwards: the second acts on it, too.
func TestReminders_keepTheOccurrenceThatRangAfterADismissal(t *testing.T) {
	t.Parallel()
	for meddleAt, isWithin := 1, true; isWithin; meddleAt++ {
		require.Less(t, meddleAt, 200)
		w := setup(t)
		w.create("rem_1", fmt.Sprintf(fromTheTenth, ""))
		w.act(snoozeFor("rem_1", 60))
		w.runUntilIdle()
		w.to(noon.Add(time.Hour))
		isWithin = false
		w.fault.steps, w.fault.at, w.fault.die = 0, meddleAt, false
		w.fault.meddle = func() {
			isWithin = true
			w.fault.at = 0
			w.act(command.DismissReminder{ID: "rem_1"})
		}
		w.runUntilIdle()
		w.fault.at = 0
		w.act(command.DismissReminder{ID: "rem_1"})
		w.advance(10*24*time.Hour + time.Hour)
		require.Contains(t, w.published(), "rem_1 -0 11T13:00", "dismissed at step %d", meddleAt)
		w.requireExact()
	}
}

// told is a daily reminder as docs/contracts.md describes it, on days at one in the afternoon.
type told struct {
	first   int // the day of its first occurrence; it is noon on day 1
	count   int // 0 without an end
	over    map[int]bool
	snoozed int // the occurrence, 0 for none
	until   time.Time
	rang    int // the occurrence that rang last
	due     int // the occurrence that was due last, which its user may have dealt with before
	ended   bool
	rings   []string
}

func onDay(day int) time.Time { return noon.Add(time.Hour).AddDate(0, 0, day-1) }

// left is the first occurrence that is not over.
func (m *told) left() (day int, ok bool) {
	for day = m.first; m.over[day]; day++ {
	}
	return day, m.count == 0 || day < m.first+m.count
}

func (m *told) present() int {
	if m.snoozed > 0 {
		return m.snoozed
	}
	if m.rang > 0 {
		return m.rang
	}
	if m.due > 0 {
		return m.due
	}
	day, _ := m.left()
	return day
}

func (m *told) ring(day int, at time.Time) {
	m.rings = append(m.rings, fmt.Sprintf("%s for day %d", at.Format("02T15:04"), day))
	m.rang, m.over[day] = day, true
}

// pass lets the time go by, to the instant included.
func (m *told) pass(from, to time.Time) {
	for at := from.Add(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		day := int(at.Sub(onDay(1))/(24*time.Hour)) + 1
		isDue := at.Equal(onDay(day)) && day >= m.first && (m.count == 0 || day < m.first+m.count)
		if m.snoozed > 0 && at.Equal(m.until) {
			day := m.snoozed
			m.snoozed = 0
			m.ring(day, at)
		}
		if isDue && !m.ended {
			m.due = day
		}
		if isDue && !m.ended && !m.over[day] {
			m.ring(day, at)
		}
	}
}

func (m *told) snooze(until time.Time) {
	if !m.ended {
		day := m.present()
		m.snoozed, m.until, m.over[day] = day, until, true
	}
}

func (m *told) complete() {
	if !m.ended {
		m.over[m.present()], m.snoozed = true, 0
		_, more := m.left()
		m.ended = !more
	}
}

// Random histories of one recurring reminder ring as the contract describes it.
func TestReminders_ringARecurringReminderAsTheContractSays(t *testing.T) {
	t.Parallel()
	for seed := range *worlds * 4 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 11))
			w := setup(t)
			m := &told{first: 1 + r.IntN(9), count: r.IntN(5), over: map[int]bool{}}
			rule := "FREQ=DAILY"
			if m.count > 0 {
				rule += fmt.Sprintf(";COUNT=%d", m.count)
			}
			w.create("rem_1", fmt.Sprintf(`{"title":"x","triggerUtc":%q,"tzid":"UTC","rrule":%q}`, at(onDay(m.first)), rule))
			var told []string
			for range 14 {
				switch before := w.now; r.IntN(4) {
				case 0:
					minutes := int64(1 + r.IntN(4000))
					told = append(told, fmt.Sprintf("%s snooze %d", at(w.now), minutes))
					w.random = m.ended // which is refused
					w.act(snoozeFor("rem_1", minutes))
					m.snooze(w.now.Add(time.Duration(minutes) * time.Minute))
				case 1:
					told = append(told, at(w.now)+" complete")
					w.act(command.CompleteReminder{ID: "rem_1"})
					m.complete()
				default:
					w.advance(time.Duration(1+r.IntN(3000)) * time.Minute)
					m.pass(before, w.now)
				}
				if m.ended {
					require.Equal(t, "COMPLETED", w.item("rem_1").Str(entity.AttrStatus), "%s", told)
					break
				}
			}
			before := w.now
			w.advance(12 * time.Hour)
			m.pass(before, w.now)
			var rang []string
			for _, e := range w.bus.details(t) {
				due, _ := time.Parse(time.RFC3339, e.DueUtc)
				occurrence, _ := time.Parse(time.RFC3339, e.OccurrenceUtc)
				rang = append(rang,
					fmt.Sprintf("%s for day %d", due.Format("02T15:04"), int(occurrence.Sub(onDay(1))/(24*time.Hour))+1))
			}
			slices.Sort(rang)
			slices.Sort(m.rings)
			require.Equal(t, slices.Compact(m.rings), slices.Compact(rang), "first day %d, %s, %s", m.first, rule,
				strings.Join(told, "; "))
		})
	}
}

// What the API shows of a one-time reminder says that it has rung and will not ring again, also when a snooze rang
// before its trigger, and wherever its user goes.
func TestReminders_showThatAOneTimeReminderWillNotRingAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		snooze int64
	}{
		"by itself":                    {`{"title":"x","triggerUtc":"2025-12-01T13:00:00Z","tzid":"Europe/London"}`, 0},
		"by itself, floating":          {`{"title":"x","triggerUtc":"2025-12-01T13:00:00"}`, 0},
		"by an early snooze":           {`{"title":"x","triggerUtc":"2025-12-10T13:00:00Z","tzid":"Europe/London"}`, 60},
		"by an early snooze, floating": {`{"title":"x","triggerUtc":"2025-12-10T13:00:00"}`, 60},
		"after it was put off, in a rule": {
			`{"title":"x","triggerUtc":"2025-12-10T13:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY;COUNT=1"}`, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.create("rem_1", c.fields)
			if c.snooze > 0 {
				w.act(snoozeFor("rem_1", c.snooze))
			}
			w.advance(65 * time.Minute)
			require.Equal(t, []string{"rem_1 -0 01T13:00"}, w.published())
			shown := shownBy(w, "rem_1")
			require.Equal(t, "PENDING", shown["status"])
			require.NotEmpty(t, shown["triggerUtc"])
			require.Equal(t, shown["triggerUtc"], shown["doneTriggerUtc"])
			require.Empty(t, w.schedules())

			w.moveTo("Pacific/Honolulu") // where the trigger of one that floats is still to come
			w.advance(12 * 24 * time.Hour)
			require.Len(t, w.published(), 1)
			w.requireExact()
			w.requireNothingLost()

			w.patchReminder("rem_1", `{"triggerUtc":"2025-12-20T13:00:00Z","tzid":"UTC"}`)
			shown = shownBy(w, "rem_1")
			require.NotContains(t, shown, "doneTriggerUtc")
			w.advance(12 * 24 * time.Hour)
			require.Len(t, w.published(), 2)
			w.requireExact()
		})
	}
}

// shownBy returns an item as the API shows it.
func shownBy(w *fixture, id string) map[string]any {
	w.Helper()
	return decode(w.T, string(w.registry.ByID(id).AppendJSON(nil, w.item(id))))
}

// A rule that is given to a reminder, or taken from it, leaves what is over as it is.
func TestReminders_keepWhatRangWhenARuleComesOrGoes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.create("rem_1", `{"title":"x","triggerUtc":"2025-12-10T13:00:00Z","tzid":"UTC"}`)
	w.act(snoozeFor("rem_1", 60))
	w.advance(2 * time.Hour)
	w.patchReminder("rem_1", `{"rrule":"FREQ=DAILY;COUNT=2"}`)
	require.Equal(t, "2025-12-11T13:00:00Z", w.item("rem_1").Str("triggerUtc"))
	w.advance(11 * 24 * time.Hour)
	require.Equal(t, []string{"rem_1 -0 01T13:00", "rem_1 -0 11T13:00"}, w.published())
	require.True(t, product.TriggerDone(w.item("rem_1")))
	w.act(snoozeFor("rem_1", 60))
	w.patchReminder("rem_1", `{"rrule":null}`)
	require.Equal(t, "SNOOZED", w.item("rem_1").Str("status"))
	require.True(t, product.TriggerDone(w.item("rem_1")))
	w.advance(24 * time.Hour)
	require.Len(t, w.published(), 3)
	w.requireExact()
	w.requireNothingLost()
}
