package hooklaws_test

import (
	"maps"
	"strings"
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
			s.judge.See(hooklaws.Crash{At: s.now, User: "ann"})
			s.pass(time.Minute)
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
			s.pass(time.Minute)
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

var waits = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// breakerOpens has so many messages fail, and the breaker open for a minute.
func (s *story) breakerOpens(failures int) *message {
	m := s.made("task_1", 1)
	for n := range failures {
		s.fails(m, waits[n])
		s.pass(waits[n])
	}
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
		"given up too soon": {"W1", "after 1 attempts", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 500)
			s.ended(m, "dead", "failed", 500)
		}},
		"full too soon": {"full", "while 0 were pending", func(s *story) { s.ended(s.made("task_1", 1), "dead", "full") }},
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
		"a failure that no receiver saw": {"attempts", "no receiver saw", func(s *story) {
			s.postponed(s.made("task_1", 1), 5*time.Second)
		}},
		"a wait too short": {"attempts", "the next attempt is in 5s", func(s *story) {
			m := s.made("task_1", 1)
			s.fails(m, 5*time.Second)
			s.pass(5 * time.Second)
			s.fails(m, 5*time.Second)
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
		"an id of another event": {"keys", "is msg_", func(s *story) {
			m, other := s.message("task_1", 1), s.message("task_2", 1)
			m.rest = strings.Replace(m.rest, m.id, other.id, 1)
			s.task("task_1", 1)
			s.putMessage(m)
		}},
		"a message of no record": {"W1", "no record of the user", func(s *story) { s.putMessage(s.message("task_1", 1)) }},
		"bookkeeping": {"W1", "no record of the user", func(s *story) {
			s.judge.See(hooklaws.Record{
				Created: s.now, PK: user, SK: "TASK#task_1",
				Old: row{"entityType": "TASK", "taskId": "task_1", "version": int64(2)},
				New: row{"entityType": "TASK", "taskId": "task_1", "version": int64(2), "ttl": int64(5)},
			})
			s.putMessage(s.message("task_1", 2))
		}},
		"an event of before": {"W1", "before the endpoint's creation", func(s *story) {
			s.pass(-2 * time.Minute)
			m := s.message("task_1", 1)
			s.task("task_1", 1)
			s.pass(2 * time.Minute)
			s.putMessage(m)
		}},
		"a type not asked for": {"W1", "did not ask for", func(s *story) {
			s.endpoint(row{"types": []any{"note.*"}})
			s.pass(time.Second)
			s.made("task_1", 1)
		}},
		"a thin body with a title": {"body", "a thin body has title", func(s *story) {
			m := s.message("task_1", 1)
			m.row["body"] = strings.Replace(m.body, `"id"`, `"title":"secret words","id"`, 1)
			s.task("task_1", 1)
			s.putMessage(m)
		}},
		"a full body without one": {"body", "has no title", func(s *story) {
			s.endpoint(row{"content": "full"})
			s.pass(time.Second)
			s.made("task_1", 1)
		}},
		"a body above 20 KB": {"body", "bytes", func(s *story) {
			m := s.message("task_1", 1)
			m.row["body"] = strings.Replace(m.body, `"id"`, `"more":"`+strings.Repeat("x", 21_000)+`","id"`, 1)
			s.task("task_1", 1)
			s.putMessage(m)
		}},
		"a secret is stored": {"secrets", "stores a secret", func(s *story) { s.endpoint(row{"secret": "whsec_AA"}) }},
		"a generation is left out": {"secrets", "generation 3 follows 1", func(s *story) {
			s.endpoint(row{"generation": int64(3), "rotatedAt": stamp(s.now)})
		}},
		"disabled for nothing": {"W5", "no answer was 410", func(s *story) {
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED", "reason": "failing"})
		}},
		"disabled without a reason": {"W5", "without a reason", func(s *story) {
			s.changeEndpoint(hooklaws.Service, row{"status": "DISABLED"})
		}},
		"a breaker that opens early": {"breaker", "opens after 3 failures", func(s *story) { s.breakerOpens(3) }},
		"a breaker that opens for long": {"breaker", "opening 1 lasts", func(s *story) {
			s.setLane(row{"opened": int64(1), "openUntil": stamp(s.now.Add(time.Hour))})
		}},
		"a lane that waits for nothing": {"breaker", "it waits for", func(s *story) {
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
