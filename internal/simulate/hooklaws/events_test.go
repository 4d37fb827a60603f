package hooklaws_test

import (
	"strings"
	"testing"
	"time"

	"nexus/internal/simulate/hooklaws"
)

func TestJudge_namesTheRuleThatANewMessageBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		law, text string
		tell      func(s *story)
	}{
		"another type than its body says": {"body", "the row's task.updated", func(s *story) {
			s.putWith(func(m *message) { m.row["type"] = "task.updated" })
		}},
		"a body that is none": {"body", "is not {type", func(s *story) {
			s.putWith(func(m *message) { m.row["body"] = "[]" })
		}},
		"another version than its key says": {"body", "the key's 1", func(s *story) {
			s.putWith(func(m *message) { m.replace(`"version":1`, `"version":2`) })
		}},
		"a body with a key of the table": {"body", "has PK", func(s *story) {
			s.putWith(func(m *message) { m.replace(`"id"`, `"PK":"USER#ann","id"`) })
		}},
		"a body with another id of the item's": {"W1", "no record of the user", func(s *story) {
			s.putWith(func(m *message) {
				*m = *s.messageOf("task.created", "task_2", 1)
			})
		}},
		"a body of another entity": {"body", "entityType is NOTE", func(s *story) {
			s.putWith(func(m *message) { m.replace(`"TASK"`, `"NOTE"`) })
		}},
		"a body of another time": {"body", "timestamp is 2025", func(s *story) {
			s.putWith(func(m *message) { m.replace(`"timestamp":"2026`, `"timestamp":"2025`) })
		}},
		"a full body with a member too many": {"body", "the item has none", func(s *story) {
			s.endpoint(row{"content": "full"})
			s.pass(time.Second)
			s.putWith(func(m *message) { m.replace(`"id"`, `"title":"secret words","notes":"x","id"`) })
		}},
		"a full body with another title": {"body", "is not that of version 1", func(s *story) {
			s.endpoint(row{"content": "full"})
			s.pass(time.Second)
			s.putWith(func(m *message) { m.replace(`"id"`, `"title":"other words","id"`) })
		}},
		"a reminder that was not due": {"W1", "no reminder of the user was due", func(s *story) {
			m := s.messageOf("reminder.due", "rem_1", 0)
			s.putMessage(m)
		}},
		"a message of no endpoint": {"W1", "never there", func(s *story) {
			s.putWith(func(m *message) { m.rest = strings.Replace(m.rest, hook, "whk_2", 1) })
		}},
		"a key without seconds": {"keys", "occurredAt is", func(s *story) {
			s.putWith(func(m *message) { m.rest = strings.Replace(m.rest, stamp(s.now), "2026-03-01", 1) })
		}},
		"a short version": {"keys", "not 12 digits", func(s *story) {
			s.putWith(func(m *message) { m.rest = strings.Replace(m.rest, "000000000001", "1", 1) })
		}},
		"a short id": {"keys", "26 digits", func(s *story) {
			s.putWith(func(m *message) { m.rest = strings.Replace(m.rest, m.id, "msg_AB", 1) })
		}},
		"an id twice": {"keys", "two messages have this id", func(s *story) {
			m := s.made("task_1", 1)
			m.rest = strings.Replace(m.rest, "000000000001", "000000000002", 1)
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
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.tell(s)
			s.breaks(c.law, c.text)
		})
	}
}
