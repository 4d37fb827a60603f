package change_test

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

const streamARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/ProductivityData/stream/2026-01-01T00:00:00.000"

// task is a small image of a task.
func task(id string, version int64) item.Item {
	it := entity.ItemKey("user_1", entity.Ref{Type: product.TypeTask, ID: id}).Item()
	it[entity.AttrType] = item.String(product.TypeTask)
	it[entity.AttrVersion] = item.Int(version)
	it[entity.AttrTitle] = item.String("Water the plants")
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
func event(n int, version int64) item.Item {
	user, id := fmt.Sprint("user_", n/5), fmt.Sprintf("evt_6f1d2c3b-0000-4000-8000-%012d", n)
	it := entity.ItemKey(user, entity.Ref{Type: product.TypeEvent, ID: id}).Item()
	for name, text := range map[string]string{
		entity.AttrType: product.TypeEvent, "eventId": id, "title": fmt.Sprint("Planning ", n),
		"location":    fmt.Sprint("Room ", n),
		"description": strings.Repeat(fmt.Sprintf("What was decided in part %d, and what comes next. ", n), 15),
		"startUtc":    "2026-03-02T09:00:00Z", "endUtc": "2026-03-02T10:30:00Z", "startTzid": "Europe/Berlin",
		"endTzid": "Europe/Berlin", "status": "CONFIRMED", "color": "#4285f4", "icalUid": id + "@nexus",
		"createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
		item.AttrGSI1PK: entity.AgendaPK(user, 2026), item.AttrGSI1SK: "2026-03-02T09:00:00Z",
	} {
		it[name] = item.String(text)
	}
	it["version"], it["sequence"] = item.Int(version), item.Int(3)
	it["isAllDay"], it["startDate"] = item.Bool(false), item.Null{}
	it["tags"] = item.Strings("planning", "quarter", "team")
	it["reminderMinutes"] = item.Ints(10, 60, 1440)
	it["links"] = item.List{
		item.Map{
			"targetType": item.String("NOTE"), "targetId": item.String(fmt.Sprint("note_", n)),
			"relation": item.String("minutes"),
		},
		item.Map{"targetType": item.String("TASK"), "targetId": item.String("task_1")},
	}
	return it
}

// batch is n records of modified calendar entries.
func batch(n int) []change.Record {
	var out []change.Record
	for i := range n {
		old, present := event(i, 4), event(i, 5)
		present["title"] = item.String(fmt.Sprint("Planning, moved ", i))
		present["startUtc"], present["endUtc"] = item.String("2026-03-02T11:00:00Z"), item.String("2026-03-02T12:30:00Z")
		present["updatedAt"] = item.String("2026-01-03T00:00:00Z")
		present[item.AttrGSI1SK] = item.String("2026-03-02T11:00:00Z")
		out = append(out, change.Record{
			EventID: fmt.Sprintf("%032x", i), Name: change.Modify, Sequence: fmt.Sprintf("1405400000%015d", i),
			Created: time.Unix(1767225600, 0).UTC(), Key: present.Key(), Old: old, New: present, SourceARN: streamARN,
		})
	}
	return out
}
