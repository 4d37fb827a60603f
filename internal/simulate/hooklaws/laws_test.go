package hooklaws_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"nexus/internal/simulate/hooklaws"
)

var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// failsOften has so many attempts of a message fail.
func (s *story) failsOften(failures int) *message {
	m := s.made("task_1", 1)
	for n := range failures {
		s.pass(waits[n])
		s.fails(m, waits[n])
		if n < failures-1 {
			s.setLane(row{})
		}
	}
	return m
}

// busy sends a message, which its receiver answers with the wish to wait.
func (s *story) busy(m *message, retryAfter string) {
	s.judge.See(hooklaws.Answer{At: s.now, ID: s.send(m), Status: 503, RetryAfter: retryAfter})
}

// breakerOpens has so many attempts of a message fail, and the breaker open for a minute.
func (s *story) breakerOpens(failures int) *message {
	m := s.failsOften(failures)
	s.setLane(row{"opened": int64(1), "openUntil": stamp(s.now.Add(time.Minute))})
	return m
}

func TestJudge_namesTheRuleThatARowBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		law, text string
		tell      func(s *story)
	}{
		"the body changes": {"W2", "have changed", func(s *story) {
			m := s.made("task_1", 1)
			is := maps.Clone(m.row)
			is["body"] = m.body + " "
			s.put(hooklaws.Service, "MSG"+m.rest, m.row, is)
		}},
		"no OUT": {"outbox", "OUT is there: false", func(s *story) {
			m := s.message("task_1", 1)
			s.task("task_1", 1)
			m.out = nil
			s.putMessage(m)
		}},
		"OUT stays": {"outbox", "OUT is there: true", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			is := maps.Clone(m.row)
			is["state"], is["ttl"], is["log"] = "done", s.now.Add(30*24*time.Hour).Unix(), []any{row{"status": int64(200)}}
			s.put(hooklaws.Service, "MSG"+m.rest, m.row, is)
		}},
		"OUT has a body": {"outbox", "has a body", func(s *story) {
			m := s.message("task_1", 1)
			m.out["body"] = m.body
			s.task("task_1", 1)
			s.putMessage(m)
		}},
		"done without an answer": {"W1", "answered with 2xx", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 301)
			s.ended(m, "done", "", 301)
		}},
		"given up too soon": {"W1", "when 0 attempts were counted", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 500)
			s.ended(m, "dead", "failed", 500)
		}},
		"full too soon": {"full", "while 1 were pending", func(s *story) { s.ended(s.made("task_1", 1), "dead", "full") }},
		"an early end": {"ttl", "not 30 days later", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			is := maps.Clone(m.row)
			is["state"], is["ttl"] = "done", s.now.Add(24*time.Hour).Unix()
			s.write(hooklaws.Service, m, m.row, m.out, is, nil)
		}},
		"an attempt that no receiver saw": {"attempts", "was never answered so", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			s.ended(m, "done", "", 500, 200)
		}},
		"a failure that no receiver saw": {"attempts", "its worker did not see", func(s *story) {
			s.postponed(s.made("task_1", 1), 5*time.Second)
		}},
		"a wait too short": {"attempts", "the next attempt is in 5s", func(s *story) {
			m := s.made("task_1", 1)
			s.fails(m, 5*time.Second)
			s.pass(5 * time.Second)
			s.fails(m, 5*time.Second)
		}},
		"a wait shorter than asked": {"attempts", "the next attempt is in 5s", func(s *story) {
			m := s.made("task_1", 1)
			s.busy(m, "86400")
			s.postponed(m, 5*time.Second)
		}},
		"a failure that another worker saw": {"attempts", "its worker did not see", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 500)
			s.nextLease()
			s.postponed(m, 5*time.Second)
		}},
		"a wait too long": {"attempts", "the next attempt is in 5m0s", func(s *story) {
			s.fails(s.made("task_1", 1), 5*time.Minute)
		}},
		"the service repeats": {"redeliver", "pending again", func(s *story) {
			m := s.made("task_1", 1)
			s.delivered(m)
			s.again(hooklaws.Service, m)
		}},
		"a pending one may expire": {"ttl", "has a ttl", func(s *story) {
			m := s.message("task_1", 1)
			m.row["ttl"] = int64(1)
			s.task("task_1", 1)
			s.putMessage(m)
		}},
		"the fence is removed": {"fence", "before its ttl", func(s *story) {
			m := s.made("task_1", 1)
			s.delivered(m)
			s.put(hooklaws.Service, "MSG"+m.rest, m.row, nil)
		}},
		"late too soon": {"late", "late, and", func(s *story) {
			m := s.message("task_1", 1)
			s.task("task_1", 1)
			m.row["state"], m.row["reason"], m.row["ttl"] = "dead", "late", s.now.Add(30*24*time.Hour).Unix()
			s.write(hooklaws.Service, m, nil, nil, m.row, nil)
		}},
		"sent although late": {"late", "to be sent", func(s *story) {
			m := s.message("task_1", 1)
			s.task("task_1", 1)
			s.pass(30 * 24 * time.Hour)
			s.putMessage(m)
		}},
		"a secret is stored": {"secrets", "stores a secret", func(s *story) { s.endpoint(row{"secret": "whsec_AA"}) }},
		"a generation is left out": {"secrets", "generation 3 follows 1", func(s *story) {
			s.endpoint(row{"generation": int64(3), "rotatedAt": stamp(s.now)})
		}},
		"disabled for nothing": {"W5", "failed since never", func(s *story) {
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED", "reason": "failing"})
		}},
		"disabled without a reason": {"W5", "without a reason", func(s *story) {
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED"})
		}},
		"a breaker that opens early": {"breaker", "not 0, after 3 failures", func(s *story) { s.breakerOpens(3) }},
		"a breaker that opens for nothing": {"breaker", "not 0, after 0 failures", func(s *story) {
			s.setLane(row{"opened": int64(1), "openUntil": stamp(s.now.Add(time.Minute))})
		}},
		"a breaker that stays closed": {"breaker", "not 1, after 5 failures", func(s *story) {
			s.failsOften(5)
			s.setLane(row{})
		}},
		"a breaker that opens for long": {"breaker", "nothing is let through until", func(s *story) {
			s.failsOften(5)
			s.setLane(row{"opened": int64(1), "openUntil": stamp(s.now.Add(time.Hour))})
		}},
		"a lane that does not wait": {"breaker", "until never", func(s *story) {
			s.busy(s.made("task_1", 1), "60")
			s.setLane(row{})
		}},
		"disabled as gone for nothing": {"W5", "no answer to its worker was 410", func(s *story) {
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED", "reason": "gone"})
		}},
		"disabled by who has not the lane": {"W5", "never took the lane", func(s *story) {
			s.from = 9
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED", "reason": "gone"})
		}},
		"left active by 410": {"W5", "it answered 410", func(s *story) {
			s.answer(s.send(s.made("task_1", 1)), 410)
			s.setLane(row{})
		}},
		"left active after 5 days": {"W5", "has failed since", func(s *story) {
			m := s.made("task_1", 1)
			s.fails(m, waits[0])
			s.setLane(row{})
			s.pass(6 * 24 * time.Hour)
			s.fails(m, waits[1])
			s.setLane(row{})
		}},
		"a lane that is taken from its worker": {"lease", "another worker has it", func(s *story) { s.lease() }},
		"a lane of another worker": {"lease", "has not taken it", func(s *story) {
			s.from = 9
			s.setLane(row{"leaseUntil": s.now.UnixMilli()})
		}},
		"a lane that is removed": {"lane", "its endpoint is there", func(s *story) {
			s.put(hooklaws.Service, "LANE#"+hook, s.lane, nil)
		}},
		"done by an answer to another worker": {"W1", "answered with 2xx", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			s.nextLease()
			s.ended(m, "done", "", 200)
		}},
		"done by an answer of before": {"W1", "answered with 2xx", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			late := s.from
			s.nextLease()
			s.delivered(m)
			s.again(hooklaws.User, m)
			s.from = late
			s.ended(m, "done", "", 200)
		}},
		"disabled of one that is active": {"W1", "the endpoint is ACTIVE", func(s *story) {
			s.ended(s.made("task_1", 1), "dead", "disabled")
		}},
		"deleted of one that is there": {"W1", "the endpoint is ACTIVE", func(s *story) {
			s.ended(s.made("task_1", 1), "dead", "deleted")
		}},
		"dead for nothing": {"states", "is no reason", func(s *story) { s.ended(s.made("task_1", 1), "dead", "") }},
		"full, and not the oldest": {"full", "which is older, is pending", func(s *story) {
			s.start(1)
			s.made("task_1", 1)
			s.pass(time.Second)
			s.ended(s.made("task_2", 1), "dead", "full")
		}},
		"a beginning as done": {"states", "it begins as", func(s *story) {
			s.putWith(func(m *message) {
				m.row["state"], m.row["ttl"], m.out = "done", s.now.Add(30*24*time.Hour).Unix(), nil
			})
		}},
		"from dead to done": {"states", "became", func(s *story) {
			m := s.made("task_1", 1)
			s.endpoint(row{"status": "DISABLED"})
			s.ended(m, "dead", "disabled")
			s.ended(m, "done", "")
		}},
		"eleven attempts kept": {"attempts", "it keeps 11", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			s.ended(m, "done", "", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200)
		}},
		"no attempt kept": {"attempts", "keeps no attempt", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			s.ended(m, "done", "")
		}},
		"a long answer kept": {"attempts", "keeps 300 bytes", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 200)
			is := maps.Clone(m.row)
			is["state"], is["ttl"] = "done", s.now.Add(30*24*time.Hour).Unix()
			is["log"] = []any{row{"status": int64(200), "text": strings.Repeat("x", 300)}}
			s.write(hooklaws.Service, m, m.row, m.out, is, nil)
		}},
		"OUT begins with an attempt": {"attempts", "a new OUT counts 1", func(s *story) {
			s.putWith(func(m *message) { m.out["attempts"] = int64(1) })
		}},
		"OUT counts two at once": {"attempts", "counts 2 attempts after 0", func(s *story) {
			m := s.made("task_1", 1)
			s.put(hooklaws.Service, "OUT"+m.rest, m.out, row{"attempts": int64(2), "nextAt": stamp(s.now)})
		}},
		"OUT after ten attempts": {"attempts", "still in the outbox", func(s *story) {
			m, nine := s.made("task_1", 1), row{"attempts": int64(9), "nextAt": stamp(s.now)}
			s.put(hooklaws.Foreign, "OUT"+m.rest, m.out, nine)
			s.put(hooklaws.Service, "OUT"+m.rest, nine, row{"attempts": int64(10), "nextAt": stamp(s.now)})
		}},
		"OUT without a next attempt": {"attempts", "without nextAt", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 500)
			s.put(hooklaws.Service, "OUT"+m.rest, m.out, row{"attempts": int64(1)})
		}},
		"eleven endpoints": {"limits", "has 11 endpoints", func(s *story) {
			for n := range 10 {
				s.put(hooklaws.User, "WEBHOOK#whk_a"+strconv.Itoa(n), nil, s.hook)
			}
		}},
		"a rotation without its time": {"secrets", "without rotatedAt", func(s *story) {
			s.endpoint(row{"generation": int64(2)})
		}},
		"a lane that waits for nothing": {"breaker", "not never", func(s *story) {
			s.setLane(row{"openUntil": stamp(s.now.Add(time.Hour))})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.tell(s)
			s.breaks(c.law, c.text)
		})
	}
}
