package calendar_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// foreign are lines that no field holds.
var foreign = []string{
	"GEO:48.85;2.35", "CONTACT:Reception", "RESOURCES:Projector,Chairs", "PRIORITY:4",
	"RELATED-TO;RELTYPE=PARENT:other@example.com", "REQUEST-STATUS:2.0;Success",
	"CONFERENCE;VALUE=URI;FEATURE=VIDEO:https://meet.example.com/1", "ORGANIZER;CN=Ann:mailto:ann@example.com",
	"ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED:mailto:bob@example.com", "ATTENDEE:mailto:cem@example.com",
	"ATTACH:https://example.com/plan.pdf", "COMMENT:Bring shoes", "X-LATER;X-WHY=because:some; thing",
	"URL:https://example.com/",
}

// alarms are alarms that the product would write differently.
var alarms = []string{
	"BEGIN:VALARM", "ACTION:EMAIL", "TRIGGER:-PT15M", "SUMMARY:Soon", "DESCRIPTION:Go",
	"ATTENDEE:mailto:ann@example.com", "END:VALARM",
	"BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER:-PT30M", "REPEAT:2", "DURATION:PT5M", "END:VALARM",
	"BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:PT10M", "DESCRIPTION:Late", "END:VALARM",
}

// linesOf is a text without folds, line by line.
func linesOf(text []byte) []string {
	return strings.Split(strings.ReplaceAll(string(text), "\r\n ", ""), "\r\n")
}

// override is a changed occurrence of the series "s", two hours later than the others.
func override(day string, lines ...string) string {
	return vevent("s", append([]string{
		"RECURRENCE-ID;TZID=Europe/Berlin:" + day + "T090000", "DTSTART;TZID=Europe/Berlin:" + day + "T110000",
	}, lines...)...)
}

func (b *fixture) requireLines(text []byte, lines ...string) {
	b.t.Helper()
	have := linesOf(text)
	for _, line := range lines {
		b.Contains(have, line)
	}
}

func TestKeptRows_comeOutUnchanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	more := slices.Concat(foreign, alarms)
	file := text(
		vevent("e", append([]string{
			starts, "SUMMARY;LANGUAGE=en:Event", "LOCATION:Here", "CLASS:PRIVATE", "TRANSP:TRANSPARENT",
		}, more...)...),
		vevent("s", append([]string{starts, daily, "SUMMARY:Series", "LOCATION:Here", "CLASS:CONFIDENTIAL"}, more...)...),
		override("20251212", "SUMMARY:Series", "CONTACT:Nobody", "CLASS:PUBLIC"),
		vtodo("t", append([]string{"DUE:20251211T090000Z", "SUMMARY:Task", "CLASS:PRIVATE", "LOCATION:There"}, more...)...),
		vtodo("r", append([]string{"DTSTART:20240101T090000Z", daily, "SUMMARY:Reminder", "COLOR:navy"}, more...)...),
	)
	r := b.imports(ann, file)
	b.Empty(r.Refused)
	for _, x := range r.LeftOut {
		b.Contains(x.Reason, "is kept", "everything is")
	}
	b.Equal("PRIVATE", b.item(product.Event(), "e", 0).Str("visibility"))
	b.Equal("TRANSPARENT", b.item(product.Event(), "e", 0).Str("transparency"))
	b.Equal("CONFIDENTIAL", b.item(product.Master(), "s", 0).Str("visibility"))
	exported := b.export(ann).Text
	b.requireLines(exported, more...)
	b.requireLines(exported, "SUMMARY;LANGUAGE=en:Event", "CLASS:PRIVATE", "CLASS:CONFIDENTIAL", "CLASS:PUBLIC",
		"TRANSP:TRANSPARENT", "CONTACT:Nobody", "COLOR:navy")
	for _, line := range more {
		if strings.HasPrefix(line, "BEGIN") || strings.HasPrefix(line, "END") {
			continue
		}
		n := 0
		for _, have := range linesOf(exported) {
			if have == line {
				n++
			}
		}
		b.GreaterOrEqual(n, 4, "once for each component: %s", line)
	}
	before := b.rows()
	b.advance(time.Hour)
	for _, again := range [][]byte{file, exported} {
		r = b.imports(ann, again)
		b.Equal(5, r.Unchanged, "%+v", r)
		b.Equal(before, b.rows())
	}
	b.imports(bob, exported)
	b.Equal(withoutTimes(exported), withoutTimes(b.export(bob).Text))
}

// withoutTimes leaves out when something was written.
func withoutTimes(text []byte) []string {
	return slices.DeleteFunc(linesOf(text), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains([]string{"DTSTAMP", "LAST-MODIFIED", "CREATED"}, name)
	})
}

func TestKeptRows_goWithTheirItem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.imports(ann, text(
		vevent("e", starts, "SUMMARY:Event", "CONTACT:E"),
		vevent("s", starts, daily, "SUMMARY:Series", "CONTACT:S"),
		override("20251215", "SUMMARY:Series", "CONTACT:X"),
		vtodo("t", "DUE:20251211T090000Z", "SUMMARY:Task", "CONTACT:T"),
	))
	do := func(version int64, c command.Command) command.Result {
		t.Helper()
		res, err := b.commands.Do(t.Context(), command.Request{User: ann, ExpectedVersion: &version, Command: c})
		b.NoError(err)
		return res
	}
	kept := func() (n int) {
		for key := range b.rows() {
			if strings.Contains(key, "/KEPT#") {
				n++
			}
		}
		return n
	}
	b.Equal(4, kept())
	master, event := b.item(product.Master(), "s", 0), b.item(product.Event(), "e", 0)
	split := do(1, command.SplitSeries{ID: master.Str("masterId"), Date: "20251214"})
	b.requireLines(b.export(ann).Text, "CONTACT:E", "CONTACT:S", "CONTACT:X", "CONTACT:T")
	b.Equal(6, kept(),
		"the series that goes on has its own, and that of its exception; the undone exception keeps its row")
	series := do(1, command.CreateSeries{
		FromEventID: event.Str("eventId"), Fields: map[string]any{"rrule": "FREQ=WEEKLY"},
	})
	b.requireLines(b.export(ann).Text, "CONTACT:E")
	b.Equal(6, kept(), "that of the event has moved")
	moved := entity.InstanceID(split.Ref.ID, "20251215")
	row, err := b.store.Get(t.Context(), entity.ItemKey(ann, entity.Ref{Type: entity.TypeInstance, ID: moved}))
	b.NoError(err)
	do(row.Int("version"), command.PutInstance{
		MasterID: split.Ref.ID, Date: "20251215", Fields: map[string]any{"title": "Mine"},
	})
	b.requireLines(b.export(ann).Text, "CONTACT:X", "SUMMARY:Mine")

	do(1, command.DeleteSeries{ID: series.Ref.ID})
	do(1, command.DeleteSeries{ID: split.Ref.ID})
	do(2, command.DeleteSeries{ID: master.Str("masterId")})
	b.remove(ann, product.Task(), b.item(product.Task(), "t", 0).Str("taskId"))
	b.Zero(kept(), "nothing is left of what was deleted")
}

// A deletion that dies leaves exceptions, which a repair deletes with what is kept of them. It leaves nothing that is
// kept of no item.
func TestKeptRows_doNotOutliveTheirItemIfADeletionDies(t *testing.T) {
	t.Parallel()
	const exceptions = 60 // with their rows more than one transaction deletes
	for died := 0; ; died++ {
		b := setupFaulty(t)
		parts := []string{vevent("s", starts, daily, "SUMMARY:Series")}
		for i := range exceptions {
			day := noon.AddDate(0, 0, 10+i).Format("20060102")
			parts = append(parts, override(day, "SUMMARY:x", "CONTACT:Reception"))
		}
		b.Empty(b.imports(ann, text(parts...)).Refused)
		calls := 0
		b.fault = func(c memory.Call) error {
			if c.Op == "Transact" && c.Stage == memory.Before {
				if calls++; calls > died {
					return table.ErrUnavailable
				}
			}
			return nil
		}
		version, id := int64(1), b.item(product.Master(), "s", 0).Str("masterId")
		_, err := b.commands.Do(t.Context(), command.Request{
			User: ann, ExpectedVersion: &version, Command: command.DeleteSeries{ID: id},
		})
		b.fault = nil
		rows, kept := b.rows(), 0
		for key := range rows {
			if item, is := strings.CutPrefix(key, "USER#ann/KEPT#"); is {
				kept++
				b.Contains(rows, "USER#ann/"+item, "dead before transaction %d", died)
			}
		}
		if err == nil {
			b.Zero(kept)
			b.Greater(died, 2)
			return
		}
	}
}

func TestKeptRows_areBoundedAndTheRestIsListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.imports(ann, text(vevent("e", starts, "SUMMARY:x", "X-LARGE:"+strings.Repeat("a", 40<<10), "X-SMALL:a",
		"DTSTART:20260101T090000Z", "UID;X-A=b:e")))
	b.Empty(r.Refused)
	reasons := ""
	for _, x := range r.LeftOut {
		reasons += x.Reason + "\n"
	}
	b.Contains(reasons, "X-LARGE")
	b.Contains(reasons, "the second DTSTART")
	b.Contains(reasons, "the second UID")
	b.requireLines(b.export(ann).Text, "X-SMALL:a")
	odd := string(text(vevent("b", starts, "SUMMARY:x", "CONTACT:caf\xe9")))
	r = b.imports(ann, []byte(strings.Replace(odd, "VERSION:2.0", "VERSION:2.0\r\nX-ABOUT:all", 1)))
	b.Len(r.LeftOut, 2)
	b.Contains(r.LeftOut[0].Reason, "X-ABOUT")
	b.Contains(r.LeftOut[1].Reason, "not UTF-8")
}

func TestExport_showsAnOverrideAsPrivatelyAsItsSeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.imports(ann, text(
		override("20251212", "SUMMARY:Secret"),
		vevent("s", starts, daily, "SUMMARY:Secret", "CLASS:CONFIDENTIAL"),
		override("20251213", "SUMMARY:Known", "CLASS:PUBLIC"),
	))
	b.Empty(r.Refused)
	address, _, err := b.calendar.MakeFeed(t.Context(), ann, calendar.PrivateAsBusy)
	b.NoError(err)
	out, err := b.calendar.ExportFeed(t.Context(), address, 0, nil)
	b.NoError(err)
	b.NotContains(string(out.Text), "Secret")
	b.Contains(string(out.Text), "SUMMARY:Known")
	again := b.imports(ann, b.export(ann).Text)
	b.Equal(0, again.Created+again.Updated)
	alone := b.imports(ann, text(override("20251214", "SUMMARY:Secret")))
	b.Empty(alone.Refused)
	out, err = b.calendar.ExportFeed(t.Context(), address, 0, nil)
	b.NoError(err)
	b.NotContains(string(out.Text), "Secret", "an override that comes without its series")
}

func TestExportFeed_showsOnlyTheTimeOfWhatIsPrivate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	secrets := []string{
		"LOCATION:Secret", "DESCRIPTION:Secret", "CATEGORIES:Secret", "CONTACT:Secret",
		"BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nDESCRIPTION:Secret\r\nEND:VALARM",
	}
	r := b.imports(ann, text(
		vevent("open", starts, "SUMMARY:Open", "LOCATION:Hall"),
		vevent("private", append([]string{starts, "SUMMARY:Secret", "CLASS:PRIVATE"}, secrets...)...),
		vevent("odd", starts, "SUMMARY:Secret", "CLASS:X-OURS"),
		vevent("free", starts, "SUMMARY:Secret", "CLASS:PRIVATE", "TRANSP:TRANSPARENT"),
		vevent("s", append([]string{starts, daily, "SUMMARY:Secret", "CLASS:CONFIDENTIAL"}, secrets...)...),
		override("20251212", "SUMMARY:Known", "CLASS:PUBLIC"),
		vtodo("t", "SUMMARY:Secret", "CLASS:PRIVATE", "DUE:20251211T090000Z"),
		vtodo("u", "SUMMARY:Errand", "DUE:20251211T090000Z"),
	))
	b.Empty(r.Refused)
	address, _, err := b.calendar.MakeFeed(t.Context(), ann, calendar.PrivateAsBusy)
	b.NoError(err)
	shown := func() string {
		out, err := b.calendar.ExportFeed(t.Context(), address, 0, nil)
		b.NoError(err)
		return string(out.Text)
	}
	b.NotContains(shown(), "Secret")
	b.Equal(3, strings.Count(shown(), "SUMMARY:Busy"), "the private one, the odd one and the series")
	for _, line := range []string{
		"SUMMARY:Open", "LOCATION:Hall", "SUMMARY:Known", "SUMMARY:Errand", "UID:private", "RRULE:FREQ=DAILY",
		"CLASS:CONFIDENTIAL",
	} {
		b.Contains(shown(), line)
	}
	b.NotContains(shown(), "UID:free")
	f, _, err := b.calendar.ChangeFeed(t.Context(), ann, calendar.PrivateAsFull, "")
	b.NoError(err)
	b.Equal(calendar.PrivateAsFull, f.PrivateAs)
	b.Equal(string(b.export(ann).Text), shown())
	_, _, err = b.calendar.ChangeFeed(t.Context(), bob, calendar.PrivateAsFull, "")
	b.ErrorIs(err, calendar.ErrNoFeed)
}

// No text of a component may be so long, or so damaged, that the component becomes public.
func TestExportFeed_showsNothingWhoseClassIsCrowdedOutOrUnreadable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	crowd := slices.Repeat([]string{"X-N:yy"}, 4096) // with their line ends, all that is kept of a component
	const due = "DUE:20251211T090000Z"
	r := b.imports(ann, text(
		vtodo("t", append(append([]string{"SUMMARY:Secret", due}, crowd...), "CLASS:PRIVATE")...),
		vtodo("r", append(append([]string{"SUMMARY:Secret", due, "X-NEXUS-ENTITY:REMINDER"}, crowd...), "CLASS:PRIVATE")...),
		vtodo("u", "SUMMARY:Secret", due, "CLASS;X:PRIVATE"),
		vevent("e", starts, "SUMMARY:Secret", "CLASS;X:PRIVATE"),
	))
	b.Equal(2, r.Created)
	b.Len(r.Refused, 2, "a line on which it depends cannot be read")
	address, _, err := b.calendar.MakeFeed(t.Context(), ann, calendar.PrivateAsBusy)
	b.NoError(err)
	out, err := b.calendar.ExportFeed(t.Context(), address, 0, nil)
	b.NoError(err)
	b.NotContains(string(out.Text), "Secret")
}
