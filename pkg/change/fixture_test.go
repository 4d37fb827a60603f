package change_test

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
)

const streamARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/ProductivityData/stream/2026-01-01T00:00:00.000"

// task is a small image of a task.
func task(id string, version int64) entity.Item {
	it := entity.ItemKey("user_1", entity.Ref{Type: entity.TypeTask, ID: id}).Item()
	it[entity.AttrType] = entity.String(entity.TypeTask)
	it[entity.AttrVersion] = entity.Int(version)
	it[entity.AttrTitle] = entity.String("Water the plants")
	return it
}

// modified is the record of a task's change to the version.
func modified(id string, version int64) change.Record {
	old, present := task(id, version-1), task(id, version)
	return change.Record{
		EventID: "e0", Name: change.Modify, Sequence: fmt.Sprintf("%021d", version),
		Created: time.Unix(1767225600, 0).UTC(), Key: present.Key(), Old: old, New: present, SourceARN: streamARN,
	}
}

// event is an image with about 1.9 KB of JSON: what a calendar entry with some text looks like in a stream.
func event(n int, version int64) entity.Item {
	user, id := fmt.Sprint("user_", n/5), fmt.Sprintf("evt_6f1d2c3b-0000-4000-8000-%012d", n)
	it := entity.ItemKey(user, entity.Ref{Type: entity.TypeEvent, ID: id}).Item()
	for name, text := range map[string]string{
		entity.AttrType: entity.TypeEvent, "eventId": id, "title": fmt.Sprint("Planning ", n), "location": fmt.Sprint("Room ", n),
		"description": strings.Repeat(fmt.Sprintf("What was decided in part %d, and what comes next. ", n), 15),
		"startUtc":    "2026-03-02T09:00:00Z", "endUtc": "2026-03-02T10:30:00Z", "startTzid": "Europe/Berlin",
		"endTzid": "Europe/Berlin", "status": "CONFIRMED", "color": "#4285f4", "icalUid": id + "@nexus",
		"createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
		entity.AttrGSI1PK: entity.AgendaPK(user, 2026), entity.AttrGSI1SK: "2026-03-02T09:00:00Z",
	} {
		it[name] = entity.String(text)
	}
	it["version"], it["sequence"] = entity.Int(version), entity.Int(3)
	it["isAllDay"], it["startDate"] = entity.Bool(false), entity.Null{}
	it["tags"] = entity.Strings("planning", "quarter", "team")
	it["reminderMinutes"] = entity.Ints(10, 60, 1440)
	it["links"] = entity.List{
		entity.Map{"targetType": entity.String("NOTE"), "targetId": entity.String(fmt.Sprint("note_", n)), "relation": entity.String("minutes")},
		entity.Map{"targetType": entity.String("TASK"), "targetId": entity.String("task_1")},
	}
	return it
}

// batch is n records of modified calendar entries.
func batch(n int) []change.Record {
	var out []change.Record
	for i := range n {
		old, present := event(i, 4), event(i, 5)
		present["title"] = entity.String(fmt.Sprint("Planning, moved ", i))
		present["startUtc"], present["endUtc"] = entity.String("2026-03-02T11:00:00Z"), entity.String("2026-03-02T12:30:00Z")
		present["updatedAt"] = entity.String("2026-01-03T00:00:00Z")
		present[entity.AttrGSI1SK] = entity.String("2026-03-02T11:00:00Z")
		out = append(out, change.Record{
			EventID: fmt.Sprintf("%032x", i), Name: change.Modify, Sequence: fmt.Sprintf("1405400000%015d", i),
			Created: time.Unix(1767225600, 0).UTC(), Key: present.Key(), Old: old, New: present, SourceARN: streamARN,
		})
	}
	return out
}
