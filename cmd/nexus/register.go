package main

import (
	"encoding/json"
	"net/http"
	"strings"

	"nexus/pkg/register"
)

// registered walks over all that the week has left, and all rows that it ever wrote.
func (s *story) registered() {
	s.chapter("Where the user's data are")
	s.say("Each row, object, schedule and event has its line in the register (docs/privacy.md).")
	var walk register.Walk
	records := s.fetch(http.StatusOK, http.MethodGet, "/dev/records?all=true", "", http.Header{}).Text
	for line := range strings.Lines(records) {
		var record struct {
			DynamoDB struct {
				Keys struct{ PK, SK struct{ S string } }
			}
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			s.err = err
			return
		}
		walk.Row(record.DynamoDB.Keys.PK.S, record.DynamoDB.Keys.SK.S)
	}
	for _, name := range s.objects("limit=1000") {
		walk.Object(name)
	}
	for _, one := range s.get("/dev/schedules?limit=1000").List("items") {
		walk.Name(register.Scheduler, one.Str("name"))
	}
	for _, e := range s.get("/dev/events?limit=1000").List("items") {
		walk.Name(register.Bus, e.Str("type"))
	}
	s.expect("without a line", walk.Strange(), []string(nil))
	var missing []string
	for _, line := range walk.Missing(register.Demo) {
		missing = append(missing, line.String())
	}
	s.expect("lines that name the demo, and of which it left nothing", missing, []string(nil))
}
