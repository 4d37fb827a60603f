package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// vevent is a component of these lines.
func vevent(uid string, lines ...string) string { return component("VEVENT", uid, lines...) }
func vtodo(uid string, lines ...string) string  { return component("VTODO", uid, lines...) }

func component(name, uid string, lines ...string) string {
	all := append([]string{"BEGIN:" + name, "UID:" + uid}, lines...)
	return strings.Join(append(all, "END:"+name), "\r\n")
}

// item returns ann's item of the type under the UID, or nil.
func (b *fixture) item(t *entity.Type, uid string, k int) item.Item {
	b.t.Helper()
	rows, err := b.store.BatchGet(b.t.Context(),
		[]item.Key{entity.ItemKey(ann, entity.Ref{Type: t.Name, ID: ical.ID(t.IDPrefix, ann, uid, k)})})
	b.NoError(err)
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// instances are the exceptions in force of a series, by date.
func (b *fixture) instances(master item.Item) map[string]item.Item {
	found := map[string]item.Item{}
	b.NoError(b.store.Walk(b.t.Context(), 0, 1, func(it item.Item) error {
		if it.Str(entity.AttrType) == entity.TypeInstance && it.Has(product.AttrModifiedFields) {
			masterID, date, err := entity.ParseInstanceID(it.Str(product.AttrEventID))
			b.NoError(err)
			if masterID == master.Str(product.AttrMasterID) {
				found[date] = it
			}
		}
		return nil
	}))
	return found
}

const (
	starts = "DTSTART;TZID=Europe/Berlin:20251210T090000"
	daily  = "RRULE:FREQ=DAILY"
)

func TestReport_accountsForEveryComponent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := text(
		vevent("e", starts, "SUMMARY:Event", "CREATED:20200101T000000Z", "SEQUENCE:3", "ATTENDEE:mailto:x@example.com"),
		vevent("s", starts, daily, "SUMMARY:Series"),
		vevent("s", "RECURRENCE-ID;TZID=Europe/Berlin:20251212T090000", "DTSTART;TZID=Europe/Berlin:20251212T110000",
			"SUMMARY:Series"),
		vtodo("t", "DUE:20251211T090000Z", "SUMMARY:Task", "STATUS:COMPLETED", "COMPLETED:20250101T000000Z"),
		vtodo("r", "DTSTART:20240101T090000Z", daily, "SUMMARY:Reminder"),
		vevent("bad", "SUMMARY:No start"),
		component("VJOURNAL", "j", "SUMMARY:Journal"),
	)
	r := b.imports(ann, file)
	b.Equal(5, r.Created)
	b.Zero(r.Updated + r.Unchanged)
	b.Len(r.Refused, 2)
	b.Equal("VEVENT", r.Refused[0].Component)
	b.Equal("bad", r.Refused[0].UID)
	b.Positive(r.Refused[0].Line)
	b.Contains(r.Refused[0].Reason, "DTSTART")
	b.Zero(r.LeftOutTotal)

	event := b.item(product.Event(), "e", 0)
	b.Equal("e", event.Str(product.AttrICalUID))
	b.EqualValues(3, event.Int(product.AttrSequence))
	b.EqualValues(1, event.Int(entity.AttrVersion))
	b.Equal("2020-01-01T00:00:00Z", event.Str(entity.AttrCreatedAt))
	b.Equal("2025-12-01T12:00:00Z", event.Str(entity.AttrUpdatedAt))
	master := b.item(product.Master(), "s", 0)
	b.True(master.Bool(product.AttrHasExceptions))
	b.EqualValues(1, master.Int(product.AttrExceptionsVersion))
	moved := b.instances(master)["20251212"]
	b.Equal([]string{"startUtc"}, moved.Strings(product.AttrModifiedFields))
	b.Empty(moved.Str(entity.AttrTitle), "the title is the series'")
	b.Empty(product.Instance().Validate(moved))
	task := b.item(product.Task(), "t", 0)
	b.Equal("2025-01-01T00:00:00Z", task.Str(product.AttrCompletedAt))
	b.Equal("t", task.Str(product.AttrICalUID))
	reminder := b.item(product.Reminder(), "r", 0)
	b.Equal("2024-01-01T09:00:00Z", reminder.Str(product.AttrFirstTriggerUtc))
	b.Equal("2025-12-02T09:00:00Z", reminder.Str(product.AttrTriggerUtc), "what was due before the import is past")
	b.Equal("2025-12-01T12:00:00Z", reminder.Str(product.AttrDueSetAt))
	b.EqualValues(1, reminder.Int(entity.AttrVersion))
}

func TestImporter_updatesWhatChangedAndNothingElse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := func(title string) []byte {
		return text(vevent("a", starts, "SUMMARY:"+title), vevent("b", starts, "SUMMARY:Same"), vtodo("c", "SUMMARY:"+title))
	}
	b.imports(ann, file("Old"))
	b.advance(time.Hour)
	r := b.imports(ann, file("New"))
	b.Equal(2, r.Updated)
	b.Equal(1, r.Unchanged)
	event := b.item(product.Event(), "a", 0)
	b.Equal("New", event.Str(entity.AttrTitle))
	b.EqualValues(2, event.Int(entity.AttrVersion))
	b.Zero(event.Int(product.AttrSequence), "the other calendar counts its revisions")
	b.EqualValues(1, b.item(product.Event(), "b", 0).Int(entity.AttrVersion))
	b.Equal(2, b.imports(ann, file("Newer")).Updated)
	b.Equal(3, b.imports(ann, file("Newer")).Unchanged)
}

func TestImporter_refusesAnOlderRevisionThanTheStoredOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := text(vevent("a", starts, "SUMMARY:File"), vtodo("c", "SUMMARY:File"))
	b.imports(ann, file)
	for _, kind := range []*entity.Type{product.Event(), product.Task()} {
		it := b.item(kind, map[string]string{product.TypeEvent: "a", product.TypeTask: "c"}[kind.Name], 0)
		version := it.Int(entity.AttrVersion)
		_, err := b.commands.Do(t.Context(), command.Request{
			User: ann, ExpectedVersion: &version,
			Command: command.Update{Type: kind, ID: it.Str(kind.IDAttr), Patch: map[string]any{"title": "Mine"}},
		})
		b.NoError(err)
	}
	before := b.rows()
	r := b.imports(ann, file)
	b.Len(r.Refused, 2)
	b.Contains(r.Refused[0].Reason, "later revision")
	b.Equal(before, b.rows())
	r = b.imports(ann, text(vevent("a", starts, "SUMMARY:File", "SEQUENCE:2"), vtodo("c", "SUMMARY:File", "SEQUENCE:2")))
	b.Equal(2, r.Updated)
	b.EqualValues(2, b.item(product.Event(), "a", 0).Int(product.AttrSequence))
}

func TestImporter_importsADeletedItemAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := text(vevent("a", starts, "SUMMARY:x"))
	for k := range 3 {
		b.Equal(1, b.imports(ann, file).Created)
		b.Equal(1, b.imports(ann, file).Unchanged)
		b.remove(ann, product.Event(), b.item(product.Event(), "a", k).Str(product.AttrEventID))
	}
	exported := b.export(ann).Text
	id := b.create(ann, product.Event(), event())
	mine := b.export(ann).Text
	b.remove(ann, product.Event(), id)
	b.Equal(1, b.imports(ann, mine).Created, "under an id of its UID")
	b.NotNil(b.item(product.Event(), product.ICalUID(id), 0))
	b.NotEqual(exported, mine)
}

func TestImporter_turnsAnEventIntoASeriesAndBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	single, repeated := text(vevent("a", starts, "SUMMARY:x")), text(
		vevent("a", starts, daily, "SUMMARY:x"),
		vevent("a", "RECURRENCE-ID;TZID=Europe/Berlin:20251212T090000", "DTSTART;TZID=Europe/Berlin:20251212T110000",
			"SUMMARY:x"))
	b.imports(ann, single)
	id := b.item(product.Event(), "a", 0).Str("eventId")
	b.Equal(2, b.imports(ann, repeated).Created)
	b.Nil(b.item(product.Event(), "a", 0))
	gone, err := b.store.Get(t.Context(), entity.GoneKey(ann, id))
	b.NoError(err)
	b.Equal(int64(2), gone.Int("version"), "the version that the removal counts as")
	master := b.item(product.Master(), "a", 0)
	b.Len(b.instances(master), 1)
	b.Equal(2, b.imports(ann, repeated).Unchanged)
	b.Equal(1, b.imports(ann, single).Created)
	b.Nil(b.item(product.Master(), "a", 0))
	b.Empty(b.instances(master))
	b.NotNil(b.item(product.Event(), "a", 1))
}

func TestImporter_keepsExceptionsWithTheirSeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	override := func(date string, lines ...string) string {
		return vevent("a", append([]string{"RECURRENCE-ID;TZID=Europe/Berlin:" + date + "T090000",
			"DTSTART;TZID=Europe/Berlin:" + date + "T090000"}, lines...)...)
	}
	b.imports(ann, text(vevent("a", starts, daily, "SUMMARY:x"), override("20251211", "SUMMARY:other"),
		override("20251212", "STATUS:CANCELLED", "SUMMARY:x"), override("20251213", "SUMMARY:x")))
	master := b.item(product.Master(), "a", 0)
	b.Len(b.instances(master), 2, "what says the same as its series is no exception")
	b.Equal([]string{"status"}, b.instances(master)["20251212"].Strings(product.AttrModifiedFields))

	// Only an exception changes: the series stays as it is.
	r := b.imports(ann, text(vevent("a", starts, daily, "SUMMARY:x"), override("20251211", "SUMMARY:third")))
	b.Equal(1, r.Unchanged)
	b.Equal(1, r.Updated)
	after := b.item(product.Master(), "a", 0)
	b.Equal(master.Int(entity.AttrVersion), after.Int(entity.AttrVersion))
	b.Equal(master.Int(product.AttrExceptionsVersion)+1, after.Int(product.AttrExceptionsVersion))
	b.Len(b.instances(master), 2, "what the text does not name stays")

	// A later revision of the series says all there is.
	b.imports(ann, text(vevent("a", starts, daily, "SUMMARY:x", "SEQUENCE:1"), override("20251211", "SUMMARY:third")))
	b.Len(b.instances(master), 1)

	// Exceptions alone find the series that is here.
	r = b.imports(ann, text(override("20251215", "SUMMARY:later"), override("20240101", "SUMMARY:never")))
	b.Equal(1, r.Created)
	b.Len(r.Refused, 1)
	b.Equal("later", b.instances(master)["20251215"].Str(entity.AttrTitle))

	// A rule that loses their dates drops them.
	b.imports(ann, text(vevent("a", starts, "RRULE:FREQ=DAILY;COUNT=3", "SUMMARY:x", "SEQUENCE:1")))
	b.Len(b.instances(master), 1)

	r = b.imports(ann, text(strings.ReplaceAll(override("20251215", "SUMMARY:alone"), "UID:a", "UID:nobody's")))
	b.Equal(1, r.Created)
	b.Equal(1,
		b.imports(ann, text(strings.ReplaceAll(override("20251215", "SUMMARY:alone"), "UID:a", "UID:nobody's"))).Unchanged)
}

func TestImporter_leavesLinksAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.create(ann, product.Note(), map[string]any{"title": "n"})
	b.imports(ann, text(vevent("a", starts, "SUMMARY:x")))
	id := b.item(product.Event(), "a", 0).Str(product.AttrEventID)
	_, err := b.commands.Do(t.Context(), command.Request{
		User:    ann,
		Command: command.AddLink{Type: product.Event(), ID: id, Target: entity.Ref{Type: product.TypeNote, ID: note}},
	})
	b.NoError(err)
	b.imports(ann, text(vevent("a", starts, "SUMMARY:y", "SEQUENCE:2")))
	it := b.item(product.Event(), "a", 0)
	b.Equal("y", it.Str(entity.AttrTitle))
	b.Len(entity.LinksOf(it), 1)
}

// crowd is a file that takes several transactions.
func crowd() []byte {
	var all []string
	for i := range 40 {
		all = append(all, vevent(fmt.Sprintf("e%d", i), starts, "SUMMARY:x"))
	}
	all = append(all, vevent("s", starts, daily, "SUMMARY:x"))
	for i := range 60 {
		date := time.Date(2025, 12, 11+i, 0, 0, 0, 0, time.UTC).Format("20060102")
		all = append(all, vevent("s", "RECURRENCE-ID;TZID=Europe/Berlin:"+date+"T090000",
			"DTSTART;TZID=Europe/Berlin:"+date+"T090000", "SUMMARY:y"))
	}
	return text(all...)
}

func TestImporter_finishesAnInterruptedImportByRepetition(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("cuts an import short at each of its calls")
	}
	whole := setupFaulty(t)
	whole.imports(ann, crowd())
	for n := 0; ; n++ {
		b := setupFaulty(t)
		calls, stage := 0, []memory.Stage{memory.Before, memory.After}[n%2]
		b.fault = func(c memory.Call) error {
			if c.Stage != stage {
				return nil
			}
			if calls++; calls == n/2+1 {
				return table.ErrUnavailable
			}
			return nil
		}
		_, _, err := b.importer.Import(t.Context(), ann, crowd(), "")
		b.fault = nil
		if err == nil {
			b.Greater(n, 10)
			return
		}
		r := b.imports(ann, crowd())
		b.Empty(r.Refused)
		b.Equal(101, r.Created+r.Unchanged+r.Updated)
		got, want := b.rows(), whole.rows()
		b.Len(got, len(want))
		b.Equal(101, b.imports(ann, crowd()).Unchanged)
	}
}

func TestImporter_writesAnImportInAFewWrites(t *testing.T) {
	t.Parallel()
	if isUncounted {
		t.Skip("it counts requests alone")
	}
	b := setupFaulty(t)
	b.imports(ann, crowd())
	b.Less(b.calls["Transact"], 8)
	b.Zero(b.calls["Put"])
	b.Less(b.calls["BatchGet"], 10)
	b.calls = map[string]int{}
	b.imports(ann, crowd())
	b.Zero(b.calls["Transact"])
}

func TestImporter_respectsAnotherWriteInBetween(t *testing.T) {
	t.Parallel()
	b := setupFaulty(t)
	b.imports(ann, text(vevent("a", starts, "SUMMARY:x"), vevent("b", starts, "SUMMARY:x")))
	id := b.item(product.Event(), "a", 0).Str(product.AttrEventID)
	once := false
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before && !once {
			once = true
			version := int64(1)
			_, err := b.commands.Do(t.Context(), command.Request{
				User: ann, ExpectedVersion: &version,
				Command: command.Update{Type: product.Event(), ID: id, Patch: map[string]any{"title": "Mine"}},
			})
			b.NoError(err)
		}
		return nil
	}
	r := b.imports(ann, text(vevent("a", starts, "SUMMARY:y"), vevent("b", starts, "SUMMARY:y")))
	b.True(once)
	b.Equal(1, r.Updated)
	b.Len(r.Refused, 1)
	b.Equal("Mine", b.item(product.Event(), "a", 0).Str(entity.AttrTitle))
	b.Equal("y", b.item(product.Event(), "b", 0).Str(entity.AttrTitle))
}

func TestImporter_makesARepetitionUnderAKeyHarmless(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := text(vevent("a", starts, "SUMMARY:x"))
	first, replayed, err := b.importer.Import(t.Context(), ann, file, "k")
	b.NoError(err)
	b.False(replayed)
	b.remove(ann, product.Event(), b.item(product.Event(), "a", 0).Str(product.AttrEventID))
	second, replayed, err := b.importer.Import(t.Context(), ann, file, "k")
	b.NoError(err)
	b.True(replayed)
	b.Equal(string(first), string(second))
	b.Nil(b.item(product.Event(), "a", 1))
	_, _, err = b.importer.Import(t.Context(), ann, text(), "k")
	b.ErrorIs(err, idempotency.ErrKeyReused)
	_, _, err = b.importer.Import(t.Context(), ann, file, "\x00")
	b.ErrorIs(err, idempotency.ErrKey)
	_, replayed, err = b.importer.Import(t.Context(), bob, file, "k")
	b.NoError(err)
	b.False(replayed)
	b.advance(25 * time.Hour)
	_, replayed, err = b.importer.Import(t.Context(), ann, file, "k")
	b.NoError(err)
	b.False(replayed)
}

func TestImporter_holdsTheKeyOfARunningRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := text(vevent("a", starts, "SUMMARY:x"))
	steps, err := b.commands.BeginSteps(t.Context(), ann, "k", "x")
	b.NoError(err)
	b.paused = func() { b.NoError(steps.Alive(t.Context())) }
	began := b.clock()
	_, err = b.commands.BeginSteps(t.Context(), ann, "k", "x")
	b.ErrorIs(err, command.ErrInProgress)
	b.Less(b.clock().Sub(began), 4*time.Second, "another is alive as soon as it has renewed the lease")
	b.paused = nil
	began = b.clock()
	other, err := b.commands.BeginSteps(t.Context(), ann, "k", "x")
	b.NoError(err, "the first has fallen silent")
	b.LessOrEqual(b.clock().Sub(began), 6*time.Second)
	b.ErrorIs(steps.Alive(t.Context()), command.ErrInProgress, "the second has taken over")
	b.NoError(steps.End(t.Context(), []byte("late")))
	b.NoError(other.End(t.Context(), []byte("answer")))
	again, err := b.commands.BeginSteps(t.Context(), ann, "k", "x")
	b.NoError(err)
	b.Equal("answer", string(again.Answer))

	_, _, err = b.importer.Import(t.Context(), ann, []byte("no calendar"), "f")
	b.ErrorIs(err, ical.ErrNotCalendar)
	_, replayed, err := b.importer.Import(t.Context(), ann, file, "f")
	b.NoError(err, "a failure leaves the key free")
	b.False(replayed)
}

func TestImporter_keepsAnOccurrenceChangedHereFromTheSameFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := func(sequence, title string) []byte {
		return text(vevent("a", starts, daily, "SUMMARY:x"),
			vevent("a", "RECURRENCE-ID;TZID=Europe/Berlin:20251211T090000", "DTSTART;TZID=Europe/Berlin:20251211T090000",
				"SUMMARY:"+title, "SEQUENCE:"+sequence))
	}
	b.imports(ann, file("0", "theirs"))
	b.Equal(1, b.imports(ann, file("0", "theirs, too")).Updated, "other programs do not always count")
	master := b.item(product.Master(), "a", 0)
	version := b.instances(master)["20251211"].Int(entity.AttrVersion)
	_, err := b.commands.Do(t.Context(),
		command.Request{User: ann, ExpectedVersion: &version, Command: command.PutInstance{
			MasterID: master.Str(product.AttrMasterID), Date: "20251211", Fields: map[string]any{"title": "mine"},
		}})
	b.NoError(err)
	before := b.rows()
	r := b.imports(ann, file("0", "theirs, too"))
	b.Len(r.Refused, 1)
	b.Contains(r.Refused[0].Reason, "later revision")
	b.Equal(before, b.rows())
	b.Equal(2, b.imports(ann, b.export(ann).Text).Unchanged)
	b.imports(ann, file("2", "theirs at last"))
	b.Equal("theirs at last", b.instances(master)["20251211"].Str(entity.AttrTitle))
}

// promote makes a weekly series of an event that ann has.
func (b *fixture) promote(id string) item.Item {
	b.t.Helper()
	row, err := b.store.Get(b.t.Context(), entity.ItemKey(ann, entity.Ref{Type: product.TypeEvent, ID: id}))
	b.NoError(err)
	version := row.Int(entity.AttrVersion)
	res, err := b.commands.Do(b.t.Context(), command.Request{
		User: ann, ExpectedVersion: &version,
		Command: command.CreateSeries{FromEventID: id, Fields: map[string]any{"rrule": "FREQ=WEEKLY;COUNT=4"}},
	})
	b.NoError(err)
	return res.Item
}

func TestImporter_findsASeriesThatWasAnEventByItsUID(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(b *fixture) string{
		"made here": func(b *fixture) string { return b.create(ann, product.Event(), event()) },
		"made elsewhere": func(b *fixture) string {
			b.imports(ann, text(vevent("x", starts, "SUMMARY:t")))
			return b.item(product.Event(), "x", 0).Str("eventId")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			series := b.promote(make(b))
			uid, exported, before := series.Str("icalUid"), b.export(ann).Text, b.rows()
			b.advance(time.Hour)
			r := b.imports(ann, exported)
			b.Equal(1, r.Unchanged, "%+v", r)
			b.Equal(before, b.rows(), "an import of an export writes nothing")

			r = b.imports(ann, text(vevent(uid, "RECURRENCE-ID;TZID=Europe/Berlin:20251217T100000",
				"DTSTART;TZID=Europe/Berlin:20251217T120000", "SUMMARY:Moved")))
			b.Equal(1, r.Created, "an exception alone: %+v", r)
			r = b.imports(ann, text(vevent(uid, "DTSTART;TZID=Europe/Berlin:20251210T100000", "RRULE:FREQ=WEEKLY;COUNT=6",
				"SUMMARY:New", "SEQUENCE:7")))
			b.Equal(1, r.Updated, "%+v", r)
			r = b.imports(ann, text(vevent(uid, starts, "SUMMARY:Old", "SEQUENCE:1")))
			b.Len(r.Refused, 1, "the event that it was")
			r = b.imports(ann, text(vevent(uid, starts, "SUMMARY:Once", "SEQUENCE:8")))
			b.Equal(1, r.Created, "an event again: %+v", r)
			b.Equal(1, strings.Count(string(b.export(ann).Text), "BEGIN:VEVENT"))
		})
	}
}

func TestExport_usesEachUIDOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.imports(ann, text(vevent("x", starts, "SUMMARY:a"), vtodo("x", "DUE:20251211T090000Z", "SUMMARY:b")))
	twin := b.master(ann, "00000000-0000-4000-8000-00000000beef", item.Item{
		"rrule": item.String("FREQ=WEEKLY;COUNT=4"), "icalUid": item.String("x"),
	})
	b.put(twin)
	exported := b.export(ann).Text
	uids := map[string]int{}
	for _, line := range linesOf(exported) {
		if uid, ok := strings.CutPrefix(line, "UID:"); ok {
			uids[uid]++
		}
	}
	b.Len(uids, 3)
	b.Equal(1, uids["x"])
	before := b.rows()
	r := b.imports(ann, exported)
	b.Equal(3, r.Unchanged, "%+v", r)
	b.Equal(before, b.rows())
}
