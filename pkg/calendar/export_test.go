package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nexus/pkg/calendar"
	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestExport_hasEverythingInAStableOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(ann, product.Event(), event("title", "First"))
	b.create(ann, product.Task(), map[string]any{"title": "Undated"})
	b.create(ann, product.Task(), map[string]any{"title": "Due", "dueUtc": "2025-12-11T09:00:00"})
	b.create(ann, product.Task(), map[string]any{"title": "Starts", "startUtc": "2025-12-11T09:00:00"})
	b.create(ann, product.Reminder(), map[string]any{
		"title": "Remind", "triggerUtc": "2025-12-12T09:00:00Z", "tzid": "UTC",
	})
	b.create(ann, product.Note(), map[string]any{"title": "Note"})
	b.create(bob, product.Event(), event("title", "Somebody else's"))
	master := b.master(ann, "1", item.Item{"rrule": item.String("FREQ=DAILY;COUNT=3")})
	b.put(master)
	b.put(instance(master, "20251211", item.Item{"title": item.String("Other")}))

	first := b.export(ann)
	b.Equal(1, first.Parts)
	var titles []string
	for line := range strings.SplitSeq(string(first.Text), "\r\n") {
		if title, ok := strings.CutPrefix(line, "SUMMARY:"); ok {
			titles = append(titles, title)
		}
	}
	b.Equal([]string{"First", "Series", "Other", "Remind", "Undated", "Due", "Starts"}, titles)
	b.True(first.Modified.IsZero(), "another change may follow within the second")
	for _, line := range []string{"X-WR-CALNAME:Nexus", "REFRESH-INTERVAL;VALUE=DURATION:PT1H", "TZID:Europe/Berlin"} {
		b.Contains(string(first.Text), line+"\r\n")
	}

	b.advance(time.Hour)
	second := b.export(ann)
	b.Equal(first.Text, second.Text)
	b.Equal(first.Tag, second.Tag)
	b.Equal(noon, second.Modified)
	document, err := ical.Decode(second.Text, ical.RequestLimits())
	b.NoError(err)
	result := ical.Map(product.Registry(), document)
	b.Empty(result.Refused)
	b.Empty(result.LeftOut)
}

func TestModifiedAt_changesWithADeletionAndADeparture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(ann, product.Event(), event())
	b.create(ann, product.Event(), event())
	b.advance(time.Hour)
	b.remove(ann, product.Event(), id)
	b.advance(time.Hour)
	b.Equal(noon.Add(time.Hour), b.export(ann).Modified)
	cold := entity.ColdKey(ann, "evt_x").Item()
	cold.SetTime(product.AttrExpiresAt, noon.Add(90*time.Minute))
	b.put(cold)
	b.Equal(noon.Add(90*time.Minute), b.export(ann).Modified)
	later := entity.ColdKey(ann, "evt_y").Item()
	later.SetTime(product.AttrExpiresAt, noon.Add(3*time.Hour))
	b.put(later)
	b.Equal(noon.Add(90*time.Minute), b.export(ann).Modified)
}

func TestModifiedAt_changesWithHowAnAddressShowsWhatIsPrivate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(ann, product.Event(), event("visibility", "PRIVATE"))
	address, _, err := b.calendar.MakeFeed(t.Context(), ann, calendar.PrivateAsFull)
	b.NoError(err)
	b.advance(time.Hour)
	shown := func() calendar.Export {
		out, err := b.calendar.ExportFeed(t.Context(), address, 0, nil)
		b.NoError(err)
		return out
	}
	b.Equal(noon, shown().Modified)
	_, _, err = b.calendar.ChangeFeed(t.Context(), ann, calendar.PrivateAsBusy, "")
	b.NoError(err)
	b.True(shown().Modified.IsZero(), "another change may follow within the second")
	b.advance(time.Hour)
	b.Equal(noon.Add(time.Hour), shown().Modified, "a client that asks by the time must get the new text")
	b.Equal(noon, b.export(ann).Modified, "the user's own calendar did not change")
}

func TestExport_leavesOutWhatHasLeft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(ann, product.Event(), event("title", "Left"))
	row, err := b.store.Get(t.Context(), entity.ItemKey(ann, entity.Ref{Type: product.TypeEvent, ID: id}))
	b.NoError(err)
	row[entity.AttrTTL] = item.Int(noon.Unix())
	b.put(row)
	b.NotContains(string(b.export(ann).Text), "Left")
	orphan := instance(b.master(ann, "9", item.Item{"rrule": item.String("FREQ=DAILY")}), "20251211", item.Item{
		"title": item.String("Orphan"),
	})
	b.put(orphan)
	b.NotContains(string(b.export(ann).Text), "Orphan")
}

func TestExport_dividesALargeCalendarAndNamesWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes megabytes")
	}
	b := setupFaulty(t)
	filler := strings.Repeat("x", 10_000)
	for i := range 300 {
		b.create(ann, product.Event(),
			event("title", fmt.Sprintf("Old %d", i), "startUtc", "2020-12-10T09:00:00Z", "description", filler))
		b.create(ann, product.Event(), event("title", fmt.Sprintf("New %d", i), "description", filler))
	}
	recent := b.export(ann)
	b.Equal(2, recent.Parts)
	b.Equal("2024-12-01", item.FormatDate(recent.Since))
	b.Contains(string(recent.Text), "What ended before 2024-12-01 is left out")
	b.Equal(300, strings.Count(string(recent.Text), "BEGIN:VEVENT"))
	b.NotContains(string(recent.Text), "SUMMARY:Old")
	b.advance(time.Minute)
	b.Equal(recent.Tag, b.export(ann).Tag)
	n := 0
	for part := range recent.Parts {
		e, err := b.calendar.Export(t.Context(), ann, part+1)
		b.NoError(err)
		b.True(e.Since.IsZero())
		b.Less(len(e.Text), 5<<20)
		n += strings.Count(string(e.Text), "BEGIN:VEVENT")
	}
	b.Equal(600, n)
	_, err := b.calendar.Export(t.Context(), ann, 3)
	b.ErrorIs(err, calendar.ErrNoPart)
	for i := range 300 {
		b.create(ann, product.Event(), event("title", fmt.Sprintf("More %d", i), "description", filler))
	}
	_, err = b.calendar.Export(t.Context(), ann, 0)
	b.ErrorIs(err, calendar.ErrTooLarge)
}

func TestExport_dividesAHugeSeries(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("makes megabytes")
	}
	b := setupFaulty(t)
	master := b.master(ann, "1", item.Item{"rrule": item.String("FREQ=DAILY")})
	b.put(master)
	for i := range 500 {
		date := time.Date(2025, 12, 10+i, 0, 0, 0, 0, time.UTC).Format("20060102")
		b.put(instance(master, date, item.Item{"description": item.String(strings.Repeat("\"", 10_000))}))
	}
	n := 0
	for part, parts := 1, 1; part <= parts; part++ {
		e, err := b.calendar.Export(t.Context(), ann, part)
		b.NoError(err)
		parts = e.Parts
		b.Less(len(e.Text), 3<<20)
		n += strings.Count(string(e.Text), "BEGIN:VEVENT")
		r := b.imports(bob, e.Text)
		b.Empty(r.Refused)
	}
	b.Equal(501, n)
	other := entity.Ref{Type: entity.TypeMaster, ID: ical.ID("mst", bob, master.Str(product.AttrICalUID), 0)}
	row, err := b.store.Get(t.Context(), entity.ItemKey(bob, other))
	b.NoError(err)
	b.Len(b.instances(row), 500)
}

func TestExport_isACalendarWithoutItems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.export(ann)
	b.Equal(1, e.Parts)
	b.True(strings.HasPrefix(string(e.Text), "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"))
	b.True(strings.HasSuffix(string(e.Text), "END:VCALENDAR\r\n"))
	_, err := b.calendar.Export(t.Context(), "a#b", 0)
	b.ErrorIs(err, entity.ErrID)
}

func TestFeed_leadsToItsUserUntilRenewedOrRevoked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.calendar.Feed(t.Context(), ann)
	b.ErrorIs(err, calendar.ErrNoFeed)
	first, made, err := b.calendar.MakeFeed(t.Context(), ann, calendar.PrivateAsBusy)
	b.NoError(err)
	b.Equal(calendar.Feed{CreatedAt: noon, PrivateAs: calendar.PrivateAsBusy}, made)
	user, _, err := b.calendar.UserOfFeed(t.Context(), first)
	b.NoError(err)
	b.Equal(ann, user)
	b.advance(time.Hour)
	second, _, err := b.calendar.MakeFeed(t.Context(), ann, calendar.PrivateAsBusy)
	b.NoError(err)
	since, err := b.calendar.Feed(t.Context(), ann)
	b.NoError(err)
	b.Equal(noon.Add(time.Hour), since.CreatedAt)
	bobs, _, err := b.calendar.MakeFeed(t.Context(), bob, calendar.PrivateAsBusy)
	b.NoError(err)
	head, _, _ := strings.Cut(second, ".")
	_, secret, _ := strings.Cut(bobs, ".")
	for _, wrong := range []string{
		first, second + "x", second[:len(second)-1], head + ".", head + "." + secret, "", ".", "x.y",
		"YW5u\n." + secret, head,
	} {
		_, _, err := b.calendar.UserOfFeed(t.Context(), wrong)
		b.ErrorIs(err, calendar.ErrNoFeed, wrong)
	}
	row, err := b.store.Get(t.Context(), entity.FeedKey(ann))
	b.NoError(err)
	_, secret, _ = strings.Cut(second, ".")
	for _, v := range row {
		b.NotContains(fmt.Sprint(v), secret)
	}
	for range 2 {
		_, err = b.calendar.RevokeFeed(t.Context(), ann, "")
		b.NoError(err)
		_, _, err = b.calendar.UserOfFeed(t.Context(), second)
		b.ErrorIs(err, calendar.ErrNoFeed)
	}
}

// A damaged row does not keep the rest of the calendar from anybody.
func TestExport_leavesDamagedItemsOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create(ann, product.Event(), event("title", "Whole"))
	for _, sk := range []string{
		"EVENT#evt_1", "TASK#task_1", "REMINDER#rem_1", "MASTER#mst_1", "INSTANCE#mst_1#20260304",
	} {
		kind, id, _ := strings.Cut(sk, "#")
		b.put(item.Item{
			"PK": item.String("USER#" + ann), "SK": item.String(sk), "entityType": item.String(kind), "version": item.Int(1),
			"rrule": item.String("FREQ=NEVER"), "eventId": item.String(id), "masterId": item.String("mst_1"),
			"title": item.String("Damaged"), "startUtc": item.Int(7), "dueUtc": item.String("soon"),
		})
	}
	out := b.export(ann)
	b.Contains(string(out.Text), "SUMMARY:Whole\r\n")
	b.Equal(1, strings.Count(string(out.Text), "BEGIN:VEVENT"))
}

// The ids of an account that moved here were made from its former user, so they do not say which life was the first.
func TestExport_givesAUIDToTheSeriesThatWasCreatedFirst(t *testing.T) {
	t.Parallel()
	uid := strings.Repeat("a, long one ", 12) + "@example.com" // its line is escaped and folded
	for _, firstID := range []string{"1", "3"} {
		b := setup(t)
		for _, n := range []string{firstID, "2"} {
			row := b.master(ann, n, item.Item{
				product.AttrICalUID: item.String(uid), "title": item.String("Series " + n), "rrule": item.String("FREQ=DAILY"),
			})
			b.put(row)
			b.put(instance(row, "20251211", item.Item{"title": item.String("Changed " + n)}))
			b.advance(time.Hour)
		}
		whole, err := ical.Decode(b.export(ann).Text, ical.RequestLimits())
		b.NoError(err)
		uids := map[string]string{}
		for _, c := range whole.Calendars[0].Children {
			if c.Name == "VEVENT" {
				uids[c.Text("SUMMARY")] = c.Text("UID")
			}
		}
		b.Equal(map[string]string{
			"Series " + firstID: uid, "Changed " + firstID: uid,
			"Series 2": product.ICalUID("mst_2"), "Changed 2": product.ICalUID("mst_2"),
		}, uids)
	}
}
