package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"nexus/pkg/probe"
)

// story plays the demo's week: it describes the events in prose, and checks every statement. The first failed call
// ends it; it skips everything after that.
type story struct {
	ctx    context.Context
	client *client
	out    io.Writer
	err    error
	place  string // the chapter
	checks []check
	wrong  int

	cast
	plan
	review
}

// check is one checked statement.
type check struct {
	Chapter string `json:"chapter"`
	What    string `json:"what"`
	Want    string `json:"want"`
	Got     string `json:"got"`
	Holds   bool   `json:"holds"`
}

func newStory(ctx context.Context, c *client, out io.Writer) *story {
	return &story{ctx: ctx, client: c, out: out}
}

// play plays all chapters.
func (s *story) play() error {
	defer s.client.close()
	for _, chapter := range []func(){
		s.settingUp, s.writingDown, s.whatFollowed, s.reminded, s.moved, s.completed, s.nextDay, s.weekLater, s.restored,
		s.planned, s.changedClocks, s.splitUp, s.stretched, s.otherPrograms, s.ended, s.repeated, s.recounted,
		s.weeklyReview, s.dayPlanned, s.rolledOver, s.streamed, s.registered,
	} {
		if chapter(); s.err != nil {
			return fmt.Errorf("%s: %w", s.place, s.err)
		}
	}
	return nil
}

func (s *story) chapter(format string, args ...any) {
	s.place = fmt.Sprintf(format, args...)
	fmt.Fprintf(s.out, "\n%s\n%s\n", s.place, strings.Repeat("-", len([]rune(s.place))))
}

func (s *story) say(format string, args ...any) {
	if s.err == nil {
		fmt.Fprintf(s.out, format+"\n", args...)
	}
}

// expect checks one statement. It compares both values in their printed form.
func (s *story) expect(what string, got, want any) {
	if s.err != nil {
		return
	}
	c := check{Chapter: s.place, What: what, Want: printed(want), Got: printed(got)}
	c.Holds = c.Want == c.Got
	s.checks = append(s.checks, c)
	if c.Holds {
		fmt.Fprintf(s.out, "  ok     %s: %s\n", what, c.Got)
		return
	}
	s.wrong++
	fmt.Fprintf(s.out, "  WRONG  %s: %s, expected %s\n", what, c.Got, c.Want)
}

func printed(v any) string {
	switch v := v.(type) {
	case time.Time:
		return stamp(v)
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, ", ")
	}
	return fmt.Sprint(v)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// day returns an instant in the form of the prose.
func day(t time.Time) string { return t.UTC().Format("Mon 2 Jan 15:04") }

// send makes a request and requires the status in the answer.
func (s *story) send(status int, method, path string, body any, version int64) object {
	if s.err != nil {
		return nil
	}
	var got object
	got, s.err = s.client.probe().Send(s.ctx, status, method, path, body, version)
	return got
}

// fetch makes a request without JSON and requires the status in the answer. An empty Authorization sends no
// authentication.
func (s *story) fetch(status int, method, path, content string, header http.Header) probe.Reply {
	if s.err != nil {
		return probe.Reply{Header: http.Header{}}
	}
	got, err := s.client.fetch(s.ctx, method, path, []byte(content), header)
	if err == nil && got.Status != status {
		err = fmt.Errorf("%s %s: status %d, expected %d: %.300s", method, path, got.Status, status, got.Text)
	}
	if s.err = err; err != nil {
		return probe.Reply{Header: http.Header{}}
	}
	return got
}

func (s *story) get(path string) object { return s.send(http.StatusOK, http.MethodGet, path, nil, -1) }

func (s *story) create(path string, body object) object {
	return s.send(http.StatusCreated, http.MethodPost, path, body, -1)
}

func (s *story) post(path string, body any) object {
	return s.send(http.StatusOK, http.MethodPost, path, body, -1)
}

func (s *story) patch(path string, version int64, body object) object {
	return s.send(http.StatusOK, http.MethodPatch, path, body, version)
}

// waitUntilIdle waits until all effects of the writes are done.
func (s *story) waitUntilIdle() { s.post("/dev/settle", object{}) }

// now returns the platform's time.
func (s *story) now() time.Time { return s.get("/dev/clock").Time("now") }

// moveTo moves the platform's time and prints the effects.
func (s *story) moveTo(at time.Time) {
	done := s.post("/dev/clock", object{"set": stamp(at)})
	s.say("The clock moves to %s; schedules called on the way: %d, rows expired: %d.", day(at), done.Int("fired"),
		done.Int("swept"))
}

// events returns the published events of a type, each delivery once, in the order of the bus.
func (s *story) events(eventType string) []object {
	var out []object
	seen := map[string]bool{}
	for _, e := range s.get("/dev/events?limit=1000").List("items") {
		detail := e.Object("detail")
		if e.Str("type") == eventType && !seen[detail.Str("deliveryId")] {
			seen[detail.Str("deliveryId")] = true
			out = append(out, detail)
		}
	}
	return out
}

// eventsOf returns those about one item.
func (s *story) eventsOf(eventType, itemID string) []object {
	return slices.DeleteFunc(s.events(eventType), func(e object) bool { return e.Str("itemId") != itemID })
}

// schedules returns the pending ones as "title, minutes before: instant".
func (s *story) schedules() []string {
	var out []string
	for _, entry := range s.get("/dev/schedules?state=PENDING&limit=1000").List("items") {
		call := entry.Object("payload")
		out = append(out, scheduled(s.titles[call.Str("itemId")], call.Int("offsetMinutes"), entry.Time("at")))
	}
	slices.Sort(out)
	return out
}

func scheduled(title string, offset int64, at time.Time) string {
	return fmt.Sprintf("%s -%dm %s", title, offset, stamp(at))
}

// expectStats checks the statistics as of now.
func (s *story) expectStats(want map[string]int64) {
	stats := s.get("/v1/me/stats")
	for _, name := range []string{
		"totalEvents", "totalTasks", "totalReminders", "totalNotes", "upcomingEvents", "overdueTasks",
	} {
		s.expect(name, stats.Int(name), want[name])
	}
}
