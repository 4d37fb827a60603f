package hooklaws_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"nexus/internal/simulate/hooklaws"
)

func TestJudge_namesTheRuleThatARequestBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		law, text string
		tell      func(s *story)
	}{
		"of no message": {"fence", "ever had this id", func(s *story) { s.send(s.message("task_1", 1)) }},
		"of a message that left": {"fence", "is not there", func(s *story) {
			m := s.made("task_1", 1)
			s.put(hooklaws.Foreign, "MSG"+m.rest, m.row, nil)
			s.send(m)
		}},
		"of no endpoint": {"fence", "no endpoint was ever there", func(s *story) {
			m := s.message("task_1", 1)
			m.rest = strings.Replace(m.rest, hook, "whk_2", 1)
			s.put(hooklaws.Foreign, "OUT"+m.rest, nil, m.out)
			s.send(m)
		}},
		"with another method": {"W2", "the method is GET", func(s *story) {
			s.method = "GET"
			s.send(s.made("task_1", 1))
		}},
		"to what is no address": {"W4", "a request to :", func(s *story) { s.sentTo(":") }},
		"to an endpoint that is deleted": {"target", `the endpoint's url is ""`, func(s *story) {
			m := s.made("task_1", 1)
			s.put(hooklaws.User, "WEBHOOK#"+hook, s.hook, nil)
			s.send(m)
		}},
		"with another body": {"W2", "the body is not the message's", func(s *story) {
			m := s.made("task_1", 1)
			m.body += " "
			s.send(m)
		}},
		"with the timestamp of a former attempt": {"timestamp", "webhook-timestamp", func(s *story) {
			m := s.made("task_1", 1)
			s.fails(m, 5*time.Second)
			s.pass(5 * time.Second)
			s.skip = -5 * time.Second
			s.send(m)
		}},
		"to http":             {"W4", "http://", func(s *story) { s.sentTo("http://a.example/") }},
		"to a bare address":   {"W4", "10.0.0.1", func(s *story) { s.sentTo("https://10.0.0.1/") }},
		"to another port":     {"W4", ":22", func(s *story) { s.sentTo("https://a.example:22/") }},
		"with a password":     {"W4", "ann:p@", func(s *story) { s.sentTo("https://ann:p@a.example/") }},
		"to loopback":         {"W4", "a connection to 127.0.0.1", func(s *story) { s.connected("127.0.0.1") }},
		"to a mapped address": {"W4", "a connection to ::ffff:8.8.8.8", func(s *story) { s.connected("::ffff:8.8.8.8") }},
		"to link-local":       {"W4", "a connection to fe80::1", func(s *story) { s.connected("fe80::1") }},
		"to NAT64":            {"W4", "a connection to 64:ff9b::a00:1", func(s *story) { s.connected("64:ff9b::a00:1") }},
		"to where a redirect leads": {"target", "elsewhere", func(s *story) {
			m := s.made("task_1", 1)
			s.url = "https://elsewhere.example/"
			s.send(m)
		}},
		"to an endpoint that is disabled": {"W5", "DISABLED", func(s *story) {
			m := s.made("task_1", 1)
			s.endpoint(row{"status": "DISABLED"})
			s.pass(time.Minute)
			s.send(m)
		}},
		"of what is done": {"W1", "is done since", func(s *story) {
			m := s.made("task_1", 1)
			s.delivered(m)
			s.pass(time.Minute)
			s.send(m)
		}},
		"before its time": {"attempts", "before nextAt", func(s *story) {
			m := s.made("task_1", 1)
			s.fails(m, 5*time.Second)
			s.send(m)
		}},
		"while the first is not counted": {"attempts", "is not written", func(s *story) {
			m := s.made("task_1", 1)
			s.answer(s.send(m), 500)
			s.pass(time.Hour)
			s.send(m)
		}},
		"without the lease": {"lease", "its worker's lease was until", func(s *story) {
			s.setLane(row{"leaseUntil": int64(0)})
			s.send(s.made("task_1", 1))
		}},
		"by who never had it": {"lease", "never took the lane", func(s *story) {
			s.from = 9
			s.send(s.made("task_1", 1))
		}},
		"while the breaker is open": {"breaker", "nothing is let through", func(s *story) {
			s.breakerOpens(5)
			s.send(s.made("task_9", 1))
		}},
		"beside a probe": {"breaker", "a second probe", func(s *story) {
			m := s.breakerOpens(5)
			s.pass(waits[4])
			s.send(m)
			s.send(s.made("task_9", 1))
		}},
		"before an earlier version": {"W3", "while version 1 is pending", func(s *story) {
			s.endpoint(row{"ordering": "fifo"})
			s.made("task_1", 1)
			second := s.made("task_1", 2)
			s.pass(time.Minute)
			s.send(second)
		}},
		"beside another one": {"W3", "is under way", func(s *story) {
			s.endpoint(row{"ordering": "fifo"})
			one, other := s.made("task_1", 1), s.made("task_2", 1)
			s.pass(time.Minute)
			s.send(one)
			s.send(other)
		}},
		"without v1":  {"signature", "present secret", func(s *story) { s.lost = "v1"; s.delivered(s.made("task_1", 1)) }},
		"without v1a": {"signature", "present secret", func(s *story) { s.lost = "v1a"; s.delivered(s.made("task_1", 1)) }},
		"without the former secret": {"signature", "the former secret", func(s *story) {
			s.endpoint(row{"generation": int64(2), "rotatedAt": stamp(s.now)})
			s.pass(time.Hour)
			s.by = 2
			s.delivered(s.made("task_1", 1))
		}},
		"with a former secret after a day": {"signature", "no longer good", func(s *story) {
			s.endpoint(row{"generation": int64(2), "rotatedAt": stamp(s.now)})
			s.pass(25 * time.Hour)
			s.by, s.later = 2, []int{1}
			s.delivered(s.made("task_1", 1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.tell(s)
			s.quiet()
			s.breaks(c.law, c.text)
		})
	}
}

// connected sends a message to an address.
func (s *story) connected(to string) {
	s.to = netip.MustParseAddr(to)
	s.send(s.made("task_1", 1))
}

// sentTo gives the endpoint an address and sends a message to it.
func (s *story) sentTo(url string) {
	s.url = url
	s.endpoint(row{"url": url})
	s.pass(time.Second)
	s.send(s.made("task_1", 1))
}

func TestJudge_namesWhatIsMissingWhenAllIsQuiet(t *testing.T) {
	for name, c := range map[string]struct {
		law, text string
		tell      func(s *story)
	}{
		"a message": {"W1", "task.created was handled, and has no message", func(s *story) {
			s.task("task_1", 1)
			s.judge.See(hooklaws.Handled{At: s.now, Sequence: "task_11"})
		}},
		"a message of a reminder": {"W1", "reminder.due was handled", func(s *story) {
			s.judge.See(hooklaws.Due{At: s.now, User: "ann", DeliveryID: "d", ItemID: "rem_1"})
			s.judge.See(hooklaws.Handled{At: s.now, DeliveryID: "d"})
		}},
		"a message to an endpoint made in the same second": {"W1", "has no message", func(s *story) {
			s.putWith(func(*message) {})
			s.secondEndpoint()
			s.judge.See(hooklaws.Handled{At: s.now, Sequence: "task_11", Began: s.judge.Moment()})
			s.delivered(s.last)
		}},
		"an end": {"W1", "it is pending", func(s *story) { s.made("task_1", 1) }},
		"the end of OUT": {"outbox", "OUT is there beside", func(s *story) {
			m := s.made("task_1", 1)
			s.put(hooklaws.Foreign, "MSG"+m.rest, m.row, nil)
		}},
		"the end of a lane": {"lane", "of an endpoint that was deleted", func(s *story) {
			s.put(hooklaws.User, "WEBHOOK#"+hook, s.hook, nil)
			s.pass(time.Hour)
		}},
		"a message by which to try it": {"W1", "was answered this id", func(s *story) {
			s.judge.See(hooklaws.Tried{User: "ann", Hook: hook, ID: "msg_A"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.tell(s)
			s.quiet()
			s.breaks(c.law, c.text)
		})
	}
}
