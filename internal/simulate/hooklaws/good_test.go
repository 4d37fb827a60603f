package hooklaws_test

import (
	"testing"
	"time"

	"nexus/internal/simulate/hooklaws"
)

func TestJudge_findsNothingInGoodStories(t *testing.T) {
	for name, tell := range map[string]func(s *story){
		"a message is delivered": func(s *story) { s.delivered(s.made("task_1", 1)) },
		"one fails nine times, and then is delivered": func(s *story) {
			m := s.made("task_1", 1)
			var statuses []int
			for _, wait := range waits {
				s.fails(m, wait)
				s.pass(wait)
				statuses = append(statuses, 500)
			}
			s.answer(s.send(m), 200)
			s.ended(m, "done", "", append(statuses, 200)...)
		},
		"one fails ten times": func(s *story) {
			m := s.made("task_1", 1)
			for _, wait := range waits {
				s.fails(m, wait)
				s.pass(wait)
			}
			s.answer(s.send(m), 500)
			s.ended(m, "dead", "failed", 500)
		},
		"a done one is sent again": func(s *story) {
			m := s.made("task_1", 1)
			s.delivered(m)
			s.pass(time.Hour)
			s.again(hooklaws.User, m)
			s.delivered(m)
		},
		"a worker dies before it writes the outcome": func(s *story) {
			m := s.made("task_1", 1)
			s.send(m)
			s.nextLease()
			s.delivered(m)
		},
		"an endpoint that says 410 is disabled": func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 410)
			s.postponed(m, 5*time.Second)
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED", "reason": "gone"})
			s.ended(m, "dead", "disabled", 410)
		},
		"the former secret signs for a day": func(s *story) {
			s.endpoint(row{"generation": int64(2), "rotatedAt": stamp(s.now)})
			s.pass(23 * time.Hour)
			s.by, s.later = 2, []int{1}
			s.delivered(s.made("task_1", 1))
			s.pass(2 * time.Hour)
			s.later = nil
			s.delivered(s.made("task_2", 1))
		},
		"the breaker opens, and a probe closes it": func(s *story) {
			m := s.breakerOpens(5)
			s.pass(waits[4])
			s.delivered(m)
			s.setLane(row{"opened": int64(0), "openUntil": nil})
		},
		"what a fifo endpoint gets is in order": func(s *story) {
			s.endpoint(row{"ordering": "fifo"})
			one, two := s.made("task_1", 1), s.made("task_1", 2)
			s.pass(time.Minute)
			s.delivered(one)
			s.delivered(two)
		},
		"an old record is dead at once": func(s *story) {
			m := s.message("task_1", 1)
			s.task("task_1", 1)
			s.pass(30 * 24 * time.Hour)
			m.row["state"], m.row["reason"], m.row["ttl"] = "dead", "late", s.now.Add(30*24*time.Hour).Unix()
			s.write(hooklaws.Service, m, nil, nil, m.row, nil)
		},
		"a late worker's answer counts for nothing": func(s *story) {
			m := s.made("task_1", 1)
			request := s.send(m)
			s.nextLease()
			s.answer(request, 500)
			s.delivered(m)
			s.setLane(row{})
		},
		"a late worker's outcome stands, and that of the next one does not": func(s *story) {
			m, late := s.made("task_1", 1), s.from
			s.answer(s.send(m), 500)
			s.nextLease()
			read, next := s.judge.Moment(), s.from
			s.from = late
			s.postponed(m, 5*time.Second)
			s.from = next
			s.answer(s.sendAsRead(m, read), 500)
			s.pass(5 * time.Second)
			s.delivered(m)
		},
		"the oldest are dead where too many wait": func(s *story) {
			s.start(1)
			m := s.made("task_1", 1)
			s.pass(time.Second)
			other := s.made("task_2", 1)
			s.ended(m, "dead", "full")
			s.delivered(other)
		},
		"an endpoint is made while a record is handled": func(s *story) {
			s.putWith(func(*message) {})
			s.secondEndpoint()
			s.judge.See(hooklaws.Handled{At: s.now, Sequence: "task_11"})
			s.delivered(s.last)
		},
		"a user who leaves is owed nothing": func(s *story) {
			s.judge.Leave("ann")
			s.task("task_1", 1)
			s.judge.See(hooklaws.Handled{At: s.now, Sequence: "task_11"})
		},
		"TTL removes a message": func(s *story) {
			m := s.made("task_1", 1)
			s.delivered(m)
			s.pass(31 * 24 * time.Hour)
			s.put(hooklaws.Expiry, "MSG"+m.rest, m.row, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			tell(s)
			s.quiet()
			s.holds()
		})
	}
}
