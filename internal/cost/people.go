package cost

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

const (
	day  = 24 * time.Hour
	zone = "Europe/Paris"
	// wakes and sleeps bound the users' day, in UTC; their activity is spread over the hours between.
	wakes, sleeps = 7 * time.Hour, 21 * time.Hour
	// horizon is how far ahead of its creation an event may begin.
	horizon = 14 * day
)

// person is a user with deterministic behaviour: equal seeds give equal behaviour.
type person struct {
	id   string
	luck *rand.Rand
	load Load
	plan *agenda
	// reads is the number of the person's read requests in the whole month, sent how many of them were planned.
	reads, sent int
	latest      thing // the task that was created last, to look at
}

// thing is an item that its owner changes later.
type thing struct {
	id      string
	version int64
}

func newPerson(seed uint64, n int, load Load, reads int, plan *agenda) *person {
	p := &person{luck: rand.New(rand.NewPCG(seed, uint64(n))), load: load, plan: plan, reads: reads}
	p.id = fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", uint32(p.luck.Uint64()), uint16(p.luck.Uint64()), p.luck.IntN(1<<12),
		p.luck.IntN(1<<12), p.luck.Int64N(1<<48))
	return p
}

// awake returns an instant of the person's day.
func (p *person) awake(morning time.Time) time.Time {
	return morning.Add(wakes + time.Duration(p.luck.Int64N(int64(sleeps-wakes)))).Truncate(time.Second)
}

// after returns an instant between the two durations after the other.
func (p *person) after(at time.Time, least, most time.Duration) time.Time {
	return at.Add(least + time.Duration(p.luck.Int64N(int64(most-least)))).Truncate(time.Second)
}

// planDay plans a day; n is its number in the month.
func (p *person) planDay(n int, morning time.Time) {
	p.planDevices(n, morning)
	p.planEvents(n, morning)
	p.planSeries(morning)
	p.planTasks(n, morning)
	p.planReminders(n, morning)
	p.planNotes(n, morning)
	for due := p.reads * (n + 1) / p.load.Days; p.sent < due; p.sent++ {
		what := p.sent
		p.plan.put(p.awake(morning), func(ctx context.Context, w *world) error { return p.sendRead(ctx, w, what) })
	}
	p.planSessions(n, morning)
}

// planSessions plans when the person opens an app. A session is no longer than a watch, so it takes one request.
func (p *person) planSessions(n int, morning time.Time) {
	for range p.load.Sessions {
		at := p.awake(morning)
		p.command(at, request{
			activity: Activity{"open an app", Devices}, method: http.MethodPut, path: "/v1/me/watch",
		}, "", &thing{})
		if devicesOn(n) > 0 {
			p.planRenewal(at)
		}
	}
}

// changes reports whether the person changes something on that day.
func (p *person) changes(n int) bool { return n%p.load.ChangesEvery == 0 }

func (p *person) planEvents(n int, morning time.Time) {
	for i := range p.load.Events {
		at := p.awake(morning)
		start := p.after(at, time.Hour, horizon).Truncate(15 * time.Minute).Add(15 * time.Minute)
		body := map[string]any{
			"title": p.title("Meeting"), "startUtc": stamp(start), "endUtc": stamp(start.Add(45 * time.Minute)),
			"startTzid": zone, "location": "Room 4",
		}
		if i%2 == 0 {
			body["description"], body["tags"] = p.text(120), []string{"work", "team"}
		}
		if i < p.load.RemindingEvents {
			body["reminderMinutes"] = []int{10}
		}
		event := &thing{}
		p.create(at, "create an event", "/v1/events", "eventId", event, body)
		switch changed := p.after(at, 10*time.Minute, 5*time.Hour); {
		case p.changes(n) && i < p.load.RetitledEvents:
			p.patch(changed, "retitle an event", "/v1/events/", "eventId", Updates, event, map[string]any{
				"title": p.title("Review"),
			})
		case p.changes(n) && i < p.load.RetitledEvents+p.load.MovedEvents:
			start = start.Add(2 * time.Hour)
			p.patch(changed, "move an event", "/v1/events/", "eventId", Updates, event, map[string]any{
				"startUtc": stamp(start), "endUtc": stamp(start.Add(45 * time.Minute)),
			})
		case n%p.load.RareEvery == 0 && i == p.load.Events-1:
			p.patch(changed, "cancel an event", "/v1/events/", "eventId", LifeCycle, event, map[string]any{
				"status": product.StatusCancelled,
			})
		case n%p.load.RareEvery == 0 && i == p.load.Events-2:
			p.delete(changed, "delete an event", "/v1/events/", event)
		}
	}
}

// planSeries begins series of four weeks, and changes an occurrence of each.
func (p *person) planSeries(morning time.Time) {
	for i := range p.load.Series {
		at := p.awake(morning)
		start := morning.Add(day + 9*time.Hour + time.Duration(p.luck.IntN(8))*time.Hour)
		series := &thing{}
		p.create(at, "create a series", "/v1/series", "masterId", series, map[string]any{
			"title": p.title("Every week"), "startUtc": stamp(start), "endUtc": stamp(start.Add(30 * time.Minute)),
			"startTzid": zone, "rrule": "FREQ=WEEKLY;COUNT=4",
		})
		if i < p.load.Occurrences {
			moved := start.AddDate(0, 0, 7).Add(time.Hour)
			body := map[string]any{
				"title": p.title("This time"), "startUtc": stamp(moved), "endUtc": stamp(moved.Add(30 * time.Minute)),
				"startTzid": zone,
			}
			date := start.AddDate(0, 0, 7).In(home()).Format("20060102")
			p.command(p.after(at, 10*time.Minute, 5*time.Hour), request{
				activity: Activity{"change an occurrence", Creates}, method: http.MethodPut,
				path: "/v1/series/" + idHere + "/instances/" + date, body: body,
			}, "", series)
		}
	}
}

func (p *person) planTasks(n int, morning time.Time) {
	for i := range p.load.Tasks {
		at := p.awake(morning)
		body := map[string]any{"title": p.title("Finish"), "priority": 1 + p.luck.IntN(5)}
		if i%2 == 0 {
			body["description"] = p.text(100)
		}
		if i >= p.load.UndatedTasks {
			body["dueUtc"], body["dueTzid"] = stamp(p.after(at, day, 7*day)), zone
		}
		task := &thing{}
		p.create(at, "create a task", "/v1/tasks", "taskId", task, body)
		if p.changes(n) && i < p.load.StartedTasks {
			p.patch(p.after(at, 10*time.Minute, 5*time.Hour), "start a task", "/v1/tasks/", "taskId", Updates, task,
				map[string]any{"status": product.StatusInProgress})
		}
		if i < p.load.CompletedTasks {
			p.patch(p.awake(morning.Add(day)), "complete a task", "/v1/tasks/", "taskId", LifeCycle, task, map[string]any{
				"status": product.StatusCompleted,
			})
		}
	}
}

func (p *person) planReminders(n int, morning time.Time) {
	for i := range p.load.Reminders {
		at := p.awake(morning)
		trigger := p.after(at, 30*time.Minute, 3*time.Hour)
		reminder := &thing{}
		p.create(at, "create a reminder", "/v1/reminders", "reminderId", reminder, map[string]any{
			"title": p.title("Call"), "triggerUtc": stamp(trigger), "tzid": zone,
		})
		if i < p.load.CompletedReminders {
			p.planCompletion(n, p.after(trigger, 2*time.Minute, 30*time.Minute), reminder)
		}
	}
}

func (p *person) planNotes(n int, morning time.Time) {
	for i := range p.load.Notes {
		at := p.awake(morning)
		length := 100 + p.luck.IntN(300)
		note := &thing{}
		p.linked(i < p.load.LinkedNotes, at, "create a note", "/v1/notes", "noteId", note, map[string]any{
			"title": p.title("Thoughts"), "body": p.text(length),
		})
		if p.changes(n) && i < p.load.EditedNotes {
			p.patch(p.after(at, 10*time.Minute, 5*time.Hour), "edit a note", "/v1/notes/", "noteId", Updates, note,
				map[string]any{"body": p.text(length + 80)})
		}
	}
}

var words = strings.Fields("the figures of last week before lunch with everybody who was there and a list of what is " +
	"still open to be sent round until Friday at noon")

// text returns about so many bytes of text.
func (p *person) text(length int) string {
	var out strings.Builder
	for out.Len() < length {
		out.WriteString(words[p.luck.IntN(len(words))])
		out.WriteByte(' ')
	}
	return strings.TrimSpace(out.String())
}

func (p *person) title(about string) string { return about + " " + p.text(20) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func home() *time.Location {
	location, err := wallclock.LoadLocation(zone)
	if err != nil {
		panic("cost: " + err.Error()) // the zone database is built in
	}
	return location
}
