package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"nexus/pkg/probe"
)

// smokeCommand is nexus smoke.
type smokeCommand struct {
	API    string        `placeholder:"URL" required:"" help:"${smoke_api}"`
	Within time.Duration `default:"60s" help:"How long what consumers derive may take (${default})."`
}

// Help describes what the command leaves in the table.
func (*smokeCommand) Help() string {
	return examples(
		"Writes an item of each kind, reads it back by key and by each index that is read, waits for the statistics and the "+
			"backlinks that the stream's consumers derive, and deletes everything again. For a deployment that was just made; "+
			"any number of "+
			"times. "+tokenVariable+" is the bearer token of a user who is used for nothing else.",
		tokenVariable+"=$(cat token) nexus smoke --api https://nexus.example",
		tokenVariable+"=smoke nexus smoke --api http://127.0.0.1:8080",
	)
}

// Run plays the test and fails if one check fails.
func (c *smokeCommand) Run(ctx context.Context, out outputs) error {
	if base, err := url.Parse(c.API); err != nil || base.Host == "" || base.Path != "" && base.Path != "/" {
		return wrongUsage("--api is not the address of an API: %q", c.API)
	}
	token, err := out.bearer(c.API, "")
	if err != nil {
		return err
	}
	user := newClient(c.API)
	user.user = token
	s := &smoke{story: newStory(ctx, user, out.results), within: c.Within}
	defer s.client.close()
	if err := s.play(); err != nil {
		return err
	}
	if s.wrong > 0 {
		return fmt.Errorf("%w: %d of %d checks failed", errWrong, s.wrong, len(s.checks))
	}
	fmt.Fprintf(out.results, "\nAll %d checks hold.\n", len(s.checks))
	return nil
}

// smokeAhead is how many days ahead its items are, away from a user's own.
const smokeAhead = 400

// smoke checks whether a deployment works at all: each kind of write, each index, each projection.
type smoke struct {
	*story
	within time.Duration
	start  time.Time
	before object   // the statistics
	noteID string   // of the note that the task links to
	made   []string // paths of the items to delete, in the order of their creation
}

func (s *smoke) play() error {
	s.place = "Smoke test"
	s.start = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, smokeAhead).Add(9 * time.Hour)
	s.before = s.get("/v1/me/stats")
	s.written()
	s.derived("derived from what was written", 1)
	s.deleted()
	s.derived("derived after it was deleted", 0)
	return s.err
}

// make creates an item and remembers to delete it.
func (s *smoke) make(plural, id, title string, body object) string {
	body["title"] = title
	made := s.create("/v1/"+plural, body).Str(id)
	if s.err == nil {
		s.made = append(s.made, "/v1/"+plural+"/"+made)
	}
	return made
}

func (s *smoke) written() {
	s.noteID = s.make("notes", "noteId", "Smoke note", object{"body": "to be deleted"})
	linked := []object{{"targetType": "NOTE", "targetId": s.noteID}}
	task := s.make("tasks", "taskId", "Smoke task", object{"links": linked, "dueUtc": stamp(s.start), "dueTzid": "UTC"})
	s.make("events", "eventId", "Smoke event", object{
		"startUtc": stamp(s.start), "endUtc": stamp(s.start.Add(time.Hour)), "startTzid": "UTC",
	})
	series := s.make("series", "masterId", "Smoke series", object{
		"startUtc": stamp(s.start), "endUtc": stamp(s.start.Add(time.Hour)), "startTzid": "UTC",
		"rrule": "FREQ=DAILY;COUNT=3",
	})
	second := s.start.AddDate(0, 0, 1)
	s.send(http.StatusOK, http.MethodPut, "/v1/series/"+series+"/instances/"+second.Format("20060102"),
		object{"title": "Smoke exception"}, 1)
	s.patch("/v1/tasks/"+task, 1, object{"status": "IN_PROGRESS"})

	s.expect("by its key", s.get("/v1/tasks/"+task).Str("status"), "IN_PROGRESS")
	window := url.Values{"from": {stamp(s.start)}, "to": {stamp(s.start.AddDate(0, 0, 2))}}
	agenda := probe.Titles(s.get("/v1/agenda?" + window.Encode()).List("items"))
	slices.Sort(agenda)
	s.expect("the agenda, by GSI1", agenda, []string{"Smoke event", "Smoke exception", "Smoke series", "Smoke task"})
	s.expect("a series with its exceptions", len(s.get("/v1/series/"+series).List("instances")), 1)
	s.expect("a column of the board, by GSI3",
		slices.Contains(probe.Titles(s.get("/v1/tasks?status=IN_PROGRESS").List("items")), "Smoke task"), true)
}

// derived waits until statistics and backlinks are as before, plus so many of each kind.
func (s *smoke) derived(what string, more int64) {
	began := time.Now()
	if s.err != nil {
		return
	}
	arrived, err := probe.Await(s.ctx, s.within, func() (bool, error) {
		stats := s.get("/v1/me/stats")
		arrived := s.err == nil
		for name, n := range map[string]int64{"totalNotes": more, "totalTasks": more, "totalEvents": 2 * more} {
			arrived = arrived && stats.Int(name) == s.before.Int(name)+n
		}
		if more > 0 { // the note is gone otherwise
			arrived = arrived && slices.Equal(s.backlinks(s.noteID), []string{"Smoke task"})
		}
		return arrived, s.err
	})
	if s.err = err; err != nil {
		return
	}
	s.expect(what+": statistics, and backlinks by GSI4", arrived, true)
	s.say("         after %s", time.Since(began).Round(10*time.Millisecond))
}

// deleted deletes the items, even after a failure.
func (s *smoke) deleted() {
	failed := s.err
	var errs []error
	for _, path := range slices.Backward(s.made) {
		s.err = nil
		it := s.get(path)
		if master := it.Object("master"); master != nil {
			it = master
		}
		s.send(http.StatusNoContent, http.MethodDelete, path, nil, it.Int("version"))
		errs = append(errs, s.err)
	}
	s.err = errors.Join(append([]error{failed}, errs...)...)
}
