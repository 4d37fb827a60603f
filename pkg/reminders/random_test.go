package reminders_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

var worlds = flag.Int("worlds", 30, "random worlds to play")

// chance plays one random history.
type chance struct {
	*fixture
	*rand.Rand
	waiting []change.Change // records that are not delivered yet
}

func TestReminders_areExactInARandomWorldAtRest(t *testing.T) {
	t.Parallel()
	for seed := range *worlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &chance{fixture: setup(t), Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
			c.random, c.fault.meddle = true, c.act
			for range 60 {
				c.turn()
			}
			c.fault.at = 0
			c.quiet()
			c.advance(72 * time.Hour)
			c.requireExact()
			c.requireNothingLost()
		})
	}
}

func (c *chance) one(choices ...string) string { return choices[c.IntN(len(choices))] }

// turn is one step of the history: a user acts, records arrive, time passes, or all is quiet for once.
func (c *chance) turn() {
	c.Helper()
	c.fault.steps, c.fault.at, c.fault.die = 0, 1+c.IntN(60), c.IntN(3) > 0
	switch c.IntN(8) {
	case 0, 1, 2:
		c.act()
	case 3, 4:
		c.arrive()
	case 5:
		if len(c.history) > 0 { // again, however old
			c.deliver(c.history[c.IntN(len(c.history))])
		}
	case 6:
		c.quiet()
		c.to(c.now.Add(time.Duration(c.IntN(int(10 * time.Hour)))).Truncate(time.Second))
	case 7:
		c.quiet()
		c.requireExact()
		c.requireNothingLost()
	}
}

// arrive delivers some of the records that wait, those of one item in their order, some of them together.
func (c *chance) arrive() {
	c.Helper()
	c.waiting = append(c.waiting, c.records()...)
	for range c.IntN(4) {
		if len(c.waiting) == 0 {
			return
		}
		key := c.waiting[c.IntN(len(c.waiting))].Key
		var rest []change.Change
		for _, ch := range c.waiting {
			if ch.Key == key {
				c.deliver(ch)
			} else {
				rest = append(rest, ch)
			}
		}
		c.waiting = rest
	}
}

func (c *chance) quiet() {
	c.Helper()
	waiting := c.waiting
	c.waiting = nil
	c.deliver(waiting...)
	c.runUntilIdle()
}

func (c *chance) date() string { return c.now.AddDate(0, 0, c.IntN(6)-2).Format("20060102") }
func (c *chance) soon() string {
	return at(c.now.Add(time.Duration(c.IntN(60)-12) * time.Hour).Truncate(time.Minute))
}

// act is one command of the user, whatever the state of its target.
func (c *chance) act() {
	c.Helper()
	series, reminder := c.one("mst_1", "mst_2"), c.one("rem_1", "rem_2")
	c.found()
	switch c.IntN(12) {
	case 0:
		c.except(series, c.date(),
			`{"startUtc":"`+c.soon()+`","startTzid":"`+c.one("Europe/London", "Australia/Lord_Howe")+`"}`)
	case 1:
		c.except(series, c.date(), `{"reminderMinutes":`+c.one("null", "[0]", "[5,30]", "[30]", "[1440]")+`}`)
	case 2:
		c.except(series, c.date(), c.one(`{}`, `{}`, `{"title":"Other"}`, `{"status":"TENTATIVE"}`))
	case 3:
		c.cancel(series, c.date())
	case 4:
		c.patchSeries(series, `{"reminderMinutes":`+c.one("null", "[0]", "[5,30]", "[0,30]", "[1440,5]")+`}`)
	case 5:
		c.patchSeries(series, c.one(`{"rrule":"FREQ=DAILY"}`, `{"rrule":"FREQ=DAILY;INTERVAL=2"}`, `{"title":"New"}`,
			`{"exdate":["`+c.date()+`"]}`,
			`{"status":"CANCELLED"}`, `{"status":"CONFIRMED"}`, `{"status":"CONFIRMED"}`))
	case 6:
		c.patchSeries(series,
			c.one(`{"startUtc":"2025-12-01T09:00:00Z","startTzid":"Europe/London","endUtc":null,"rruleUntil":null}`,
				`{"startUtc":"2025-12-01T21:00:00","startTzid":null,"endUtc":null,"rruleUntil":null}`))
	case 7:
		c.moveTo(c.one("Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Apia"))
	case 8:
		c.fixture.act(snoozeFor(reminder, int64(1+c.IntN(2000))))
	case 9:
		c.fixture.act(command.CompleteReminder{ID: reminder, Series: c.IntN(4) == 0})
	case 10:
		if c.exists(reminder) {
			c.patchReminder(reminder,
				c.one(`{"triggerUtc":"`+c.soon()+`","tzid":"Europe/London"}`, `{"triggerUtc":"`+c.soon()[:19]+`","tzid":null}`,
					`{"rrule":"FREQ=DAILY"}`, `{"rrule":"FREQ=DAILY;COUNT=2"}`, `{"rrule":null}`, `{"title":"n"}`))
		}
	case 11:
		switch c.IntN(6) {
		case 0:
			c.deleteSeries(series)
		case 1, 2:
			c.split(series, c.date(), c.one(`{}`, `{"title":"Split"}`, `{"reminderMinutes":[10]}`))
		default:
			c.change("task_1", func(it item.Item) { it["dueUtc"] = item.String(c.soon()) })
		}
	}
}

// found makes sure that there is something to act on.
func (c *chance) found() {
	c.Helper()
	for _, item := range [][2]string{
		{"mst_1", fmt.Sprintf(dailyAt, "0,30")},
		{"mst_2", `{"title":"Pills","startUtc":"2025-12-01T20:00:00","rrule":"FREQ=DAILY","reminderMinutes":[5]}`},
		{"rem_1", fmt.Sprintf(dailyRem, "")},
		{"rem_2", `{"title":"x","triggerUtc":"2025-12-01T19:00:00","rrule":"FREQ=DAILY"}`},
		{"task_1", fmt.Sprintf(taskAt, at(noon.Add(9*time.Hour)), "15,60")},
	} {
		id, fields := item[0], item[1]
		if _, err := c.store.Get(c.Context(), c.key(id)); err != nil {
			if _, err := c.store.Get(c.Context(), entity.GoneKey(user, id)); err != nil {
				c.create(id, fields)
			}
		}
	}
}
