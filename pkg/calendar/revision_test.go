package calendar_test

import (
	"strings"
	"testing"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestImporter_revivesASeriesWithEveryOccurrenceCancelled(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.imports(ann, text(
		vevent("e", starts, "RRULE:FREQ=DAILY;COUNT=2", "SUMMARY:x",
			"EXDATE;TZID=Europe/Berlin:20251210T090000,20251211T090000"),
		vevent("d", "DTSTART;VALUE=DATE:20251210", "RRULE:FREQ=DAILY;COUNT=2", "SUMMARY:x",
			"EXDATE;VALUE=DATE:20251210,20251211"),
	))
	b.Equal(2, r.Created, "%+v", r)
	id := b.create(ann, product.Event(), event())
	master := b.promote(id)
	for i, date := range []string{"20251210", "20251217", "20251224", "20251231"} {
		version := master.Int("version")
		_, err := b.commands.Do(t.Context(), command.Request{
			User: ann, ExpectedVersion: &version, Command: command.CancelInstance{MasterID: master.Str("masterId"), Date: date},
		})
		b.NoError(err, i)
	}
	exported, before := b.export(ann).Text, b.rows()
	b.NotContains(string(exported), "STATUS:CANCELLED")
	r = b.imports(ann, exported)
	b.Equal(3, r.Unchanged, "%+v", r)
	b.Equal(before, b.rows())
	r = b.imports(bob, exported)
	b.Equal(3, r.Created, "%+v", r)
	b.Empty(r.Refused)
	b.Equal(withoutTimes(exported), withoutTimes(b.export(bob).Text))
}

func TestExport_leavesOutAnExcludedDateOutsideTheSeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put(b.master(ann, "00000000-0000-4000-8000-00000000beef", item.Item{
		"rrule":  item.String("FREQ=WEEKLY;COUNT=4"),
		"exdate": item.List{item.String("20251211"), item.String("20251217"), item.String("20270101")},
	}))
	b.requireLines(b.export(ann).Text, "EXDATE;TZID=Europe/Berlin:20251217T090000")
}

func TestImporter_dropsAnOverrideOfAnEarlierRevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := func(sequence string) []byte {
		return text(
			vevent("s", starts, "RRULE:FREQ=DAILY;COUNT=3", "SUMMARY:x", "SEQUENCE:2"),
			vevent("s", "RECURRENCE-ID;TZID=Europe/Berlin:20251220T090000", "DTSTART;TZID=Europe/Berlin:20251220T110000",
				"SUMMARY:Ghost", sequence),
		)
	}
	r := b.imports(ann, file("SEQUENCE:1"))
	b.Equal(1, r.Created)
	b.Len(r.Refused, 1)
	b.NotContains(string(b.export(ann).Text), "Ghost")
	r = b.imports(bob, file("SEQUENCE:2"))
	b.Empty(r.Refused)
	b.Contains(string(b.export(bob).Text), "Ghost", "of the same revision it is there to be seen")
}

func TestImporter_prefersTheLaterStampOfOneSequence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := func(title, sequence, stamp string) []byte {
		return text(vevent("a", starts, "SUMMARY:"+title, sequence, stamp), vtodo("c", "SUMMARY:"+title, sequence, stamp),
			vevent("s", starts, daily, "SUMMARY:Series"),
			vevent("s", "RECURRENCE-ID;TZID=Europe/Berlin:20251212T090000", "DTSTART;TZID=Europe/Berlin:20251212T110000",
				"SUMMARY:"+title, sequence, stamp))
	}
	change := func(c command.Command, version int64) {
		t.Helper()
		_, err := b.commands.Do(t.Context(), command.Request{User: ann, ExpectedVersion: &version, Command: c})
		b.NoError(err)
	}
	b.imports(ann, file("File", "SEQUENCE:0", "DTSTAMP:20251101T000000Z"))
	r := b.imports(ann, file("Older", "SEQUENCE:0", "DTSTAMP:20251001T000000Z"))
	b.Len(r.Refused, 3, "%+v", r)
	r = b.imports(ann, file("Later", "SEQUENCE:0", "DTSTAMP:20251102T000000Z"))
	b.Equal(3, r.Updated, "%+v", r)

	patch := map[string]any{"title": "Mine"}
	event, task, master := b.item(product.Event(), "a", 0), b.item(product.Task(), "c", 0),
		b.item(product.Master(), "s", 0)
	change(command.Update{Type: product.Event(), ID: event.Str("eventId"), Patch: patch}, event.Int("version"))
	change(command.Update{Type: product.Task(), ID: task.Str("taskId"), Patch: patch}, task.Int("version"))
	change(command.PutInstance{MasterID: master.Str("masterId"), Date: "20251212", Fields: patch},
		b.instances(master)["20251212"].Int("version"))
	before := b.rows()
	for _, stamp := range []string{"DTSTAMP:20251103T000000Z", "X-NONE:1"} {
		r = b.imports(ann, file("Elsewhere", "SEQUENCE:1", stamp))
		b.Len(r.Refused, 3, "%s: %+v", stamp, r)
		b.Equal(before, b.rows(), "the edit here is later than what was written elsewhere")
	}
	b.advance(48 * time.Hour)
	r = b.imports(ann, file("Elsewhere", "SEQUENCE:1", "DTSTAMP:20251202T120000Z"))
	b.Equal(3, r.Updated, "%+v", r)
}

func TestExport_includesATaskWithoutADate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.imports(ann, text(vtodo("t", "SUMMARY:Some day"), vtodo("u", "SUMMARY:Done", "STATUS:COMPLETED")))
	b.Equal(2, r.Created)
	exported := b.export(ann).Text
	b.Equal(2, strings.Count(string(exported), "BEGIN:VTODO"))
	r = b.imports(ann, exported)
	b.Equal(2, r.Unchanged)
}
