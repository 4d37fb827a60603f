package command_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

func TestPutInstance_givesAnOccurrenceFieldsOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body  string
		modified    []string
		start, end  string
		has, hasNot []string
	}{
		{"a title", `{"title":"x"}`, []string{"title"}, "2025-12-08T14:00:00Z", "2025-12-08T14:30:00Z",
			[]string{"location", "tags"}, nil},
		{"deliberately nothing", `{"location":null,"tags":[],"reminderMinutes":null}`,
			[]string{"location", "tags", "reminderMinutes"}, "2025-12-08T14:00:00Z", "2025-12-08T14:30:00Z", nil,
			[]string{"location", "tags", "reminderMinutes"}},
		{"a start keeps the length", `{"startUtc":"2025-12-09T15:00:00Z"}`, []string{"startUtc", "endUtc"},
			"2025-12-09T15:00:00Z", "2025-12-09T15:30:00Z", nil, nil},
		{"an end", `{"endUtc":"2025-12-08T15:00:00Z"}`, []string{"endUtc"}, "2025-12-08T14:00:00Z",
			"2025-12-08T15:00:00Z", nil, nil},
		{"no end", `{"startUtc":"2025-12-09T15:00:00Z","endUtc":null}`, []string{"startUtc", "endUtc"},
			"2025-12-09T15:00:00Z", "", nil, []string{"endUtc"}},
		{"the very start it has", `{"startUtc":"2025-12-08T14:00:00Z"}`, []string{"startUtc"}, "2025-12-08T14:00:00Z",
			"2025-12-08T14:30:00Z", nil, nil},
		{"another zone", `{"startTzid":"Europe/Paris"}`, []string{"startTzid"}, "2025-12-08T14:00:00Z",
			"2025-12-08T14:30:00Z", nil, nil},
		{"floating", `{"startTzid":null,"startUtc":"2025-12-08T09:00:00"}`, []string{"startUtc", "endUtc", "startTzid"},
			"2025-12-08T09:00:00Z", "2025-12-08T09:30:00Z", nil, []string{"startTzid"}},
		{"a whole day", `{"isAllDay":true}`, []string{"isAllDay", "startDate", "startUtc", "endUtc", "startTzid"}, "", "",
			[]string{"startDate", "endDate"}, []string{"startUtc", "startTzid"}},
		{"tentative", `{"status":"TENTATIVE"}`, []string{"status"}, "2025-12-08T14:00:00Z", "2025-12-08T14:30:00Z", nil, nil},
	} {
		b := setupSeries(t)
		id := b.newSeries(`"rrule":"FREQ=WEEKLY","location":"room 1","tags":["a"],"reminderMinutes":[5]`)
		cmd := command.PutInstance{MasterID: id, Date: "20251208", Fields: doc(c.body)}
		res := b.must(cmd, at(1), key("k"))
		b.took("BatchGet Transact", c.name)
		row, master := b.instance(id, "20251208"), b.master(id)
		require.False(t, res.Created)
		require.Equal(t, entity.Ref{Type: "INSTANCE", ID: entity.InstanceID(id, "20251208")}, res.Ref)
		require.ElementsMatch(t, c.modified, row.Strings("modifiedFields"), c.name)
		require.Equal(t, []string{c.start, c.end, "2025-12-08T14:00:00Z"},
			[]string{row.Str("startUtc"), row.Str("endUtc"), row.Str("recurrenceId")}, c.name)
		for _, name := range c.has {
			require.True(t, res.Item.Has(name), "%s: %s", c.name, name)
		}
		for _, name := range c.hasNot {
			require.False(t, res.Item.Has(name), "%s: %s", c.name, name)
		}
		for _, name := range []string{"title", "location", "tags", "status"} {
			require.Equal(t, strings.Contains(c.body, `"`+name+`":"`), row.Has(name), "%s: a row has only what is its own (%s)",
				c.name, name)
		}
		require.Equal(t, []int64{2, 1, 0}, []int64{row.Int("version"), master.Int("version"), master.Int("sequence")})
		require.True(t, master.Bool("hasExceptions"))
		require.Equal(t, int64(1), master.Int("exceptionsVersion"))
		require.Equal(t, "2025-12-01T12:00:00Z", master.Str("updatedAt"))

		again := b.must(cmd, at(1), key("k"))
		require.True(t, again.Replayed)
		require.True(t, res.Item.Equal(again.Item), c.name)
		b.trips()
		same := b.must(cmd, at(2))
		b.took("BatchGet", "what changes nothing writes nothing")
		require.Equal(t, int64(2), same.Item.Int("version"))

		back := b.must(command.PutInstance{MasterID: id, Date: "20251208", Fields: doc(`{}`)}, at(2))
		b.took("BatchGet Transact")
		require.Equal(t, []string{"standup", "room 1"}, []string{back.Item.Str("title"), back.Item.Str("location")})
		require.Equal(t, int64(3+1), back.Item.Int("version"), "of its row and of the series together")
		require.Equal(t, int64(3), b.instance(id, "20251208").Int("version"))
		require.Empty(t, b.idle())
	}
}

func TestPutInstance_replacesWhatAnOccurrenceHad(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY","reminderMinutes":[5]`)
	put := func(text string) item.Item { return b.except(id, "20251208", text) }
	put(`{"title":"x","startUtc":"2025-12-09T15:00:00Z"}`)
	require.Equal(t, "2025-12-01T12:00:00Z", b.instance(id, "20251208").Str("dueSetAt"))
	b.now = b.now.Add(time.Hour)
	put(`{"title":"y","startUtc":"2025-12-09T15:00:00Z"}`)
	require.Equal(t, "2025-12-01T12:00:00Z", b.instance(id, "20251208").Str("dueSetAt"), "no due instant moved")
	it := put(`{"description":"d"}`)
	require.Equal(t, []string{"standup", "2025-12-08T14:00:00Z", "d"},
		[]string{it.Str("title"), it.Str("startUtc"), it.Str("description")})
	require.Equal(t, []int64{4}, []int64{it.Int("version")})
	row := b.instance(id, "20251208")
	require.Equal(t, []string{"2025-12-01T13:00:00Z", "2025-12-01T12:00:00Z"},
		[]string{row.Str("dueSetAt"), row.Str("createdAt")})
	b.now = b.now.Add(time.Hour)
	put(`{"description":"d","reminderMinutes":[5]}`)
	require.Equal(t, "2025-12-01T14:00:00Z", b.instance(id, "20251208").Str("dueSetAt"),
		"the reminder is the occurrence's own now")
}

func TestCancelInstance_isUndoneByAPut(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	cmd := command.CancelInstance{MasterID: id, Date: "20251208"}
	res := b.must(cmd, at(1), key("k"))
	b.took("BatchGet Transact")
	require.Equal(t, []string{"CANCELLED", "standup", "2025-12-01T12:00:00Z"},
		[]string{res.Item.Str("status"), res.Item.Str("title"), b.instance(id, "20251208").Str("dueSetAt")})
	require.False(t, res.Deleted)
	require.Empty(t, b.seen(id, "20251208"))
	require.True(t, b.must(cmd, at(1), key("k")).Replayed)
	b.trips()
	b.must(cmd, at(2))
	b.took("BatchGet")
	b.except(id, "20251208", `{"title":"it is on"}`)
	require.Contains(t, b.seen(id, "20251208"), "it is on")
	it := b.cancel(id, "20251208")
	require.Equal(t, []string{"title", "status"}, it.Strings("modifiedFields"))
	require.Equal(t, "it is on", it.Str("title"))
	b.except(id, "20251215", `{"startUtc":"2025-12-16T10:00:00Z"}`)
	require.Equal(t, []string{"startUtc", "endUtc", "status"}, b.cancel(id, "20251215").Strings("modifiedFields"))
	require.Equal(t, "2025-12-16T10:00:00Z", b.instance(id, "20251215").Str("startUtc"))
	b.except(id, "20251208", `{}`)
	require.Contains(t, b.seen(id, "20251208"), "standup")
}

func TestPutInstance_countsTheVersionOfAnOccurrence(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"second"}`)}, at(1))
	put := func(text string, options ...option) error {
		_, err := b.do(command.PutInstance{MasterID: id, Date: "20251208", Fields: doc(text)}, options...)
		return err
	}
	require.ErrorIs(t, put(`{"title":"x"}`), command.ErrNoVersion)
	requireStale(t, put(`{"title":"x"}`, at(1)), 2)
	require.NoError(t, put(`{"title":"x"}`, at(2)))
	requireStale(t, put(`{"title":"y"}`, at(2)), 3)
	require.NoError(t, put(`{"title":"y"}`, at(3)))
	require.NoError(t, put(`{}`, at(4)))
	require.Equal(t, int64(5), b.instance(id, "20251208").Int("version"))
	requireStale(t, put(`{"title":"y"}`, at(4)), 5+2)
	require.NoError(t, put(`{"title":"y"}`, at(5+2)), "virtual again, it has the sum of both versions")
	require.Equal(t, int64(8), b.instance(id, "20251208").Int("version"))
	require.NoError(t, put(`{}`, at(8)))
	for version := int64(2); version < 20; version++ {
		b.must(command.UpdateSeries{ID: id, Patch: doc(fmt.Sprintf(`{"title":"%d"}`, version))}, at(version))
		for old := int64(1); old <= 9+version; old++ {
			requireStale(t, put(`{"title":"z"}`, at(old)), 9+version+1)
		}
	}
	require.NoError(t, put(`{"title":"y"}`, at(9+20)))
	requireStale(t, put(`{"title":"z"}`, at(9+20)), 30)
}

// A repetition knows the version that the command made, as its user saw it, and which row was written.
func TestPutInstance_remembersTheVersionOfAnUndoneOccurrence(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	cmd := command.PutInstance{MasterID: id, Date: "20251208", Fields: doc(`{"title":"x"}`)}
	versions := func(r command.Result) []int64 { return []int64{r.Version, r.Row, r.Item.Int("version")} }
	require.Equal(t, []int64{2, 2, 2}, versions(b.must(cmd, at(1), key("put"))))
	cmd.Fields = doc(`{}`)
	require.Equal(t, []int64{3 + 1, 3, 3 + 1}, versions(b.must(cmd, at(2), key("undo"))))
	require.Equal(t, []int64{3 + 1, 3, 3 + 1}, versions(b.must(cmd, at(4), key("nothing"))), "nothing was left to undo")
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"second"}`)}, at(1))
	again := b.must(cmd, at(2), key("undo"))
	require.True(t, again.Replayed)
	require.Equal(t, []int64{3 + 1, 3, 3 + 2}, versions(again))
	requireStale(t, func() error { _, err := b.do(cmd, at(again.Version)); return err }(), 3+2)
}

// The version of its series holds for an occurrence that has none of its own, and for no other: the row of an exception
// may have that very number.
func TestPutInstance_followsItsSeriesOnlyWhileItDoesNotDiffer(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	put := func(date, text string, options ...option) (command.Result, error) {
		return b.do(command.PutInstance{MasterID: id, Date: date, Fields: doc(text)}, options...)
	}
	follows := func(r *command.Request) { r.VersionOfSeries = true }
	b.except(id, "20251208", `{"title":"x"}`) // its row has version 2
	b.except(id, "20251215", `{"title":"x"}`)
	b.except(id, "20251215", `{}`)
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"second"}`)}, at(1))
	_, err := put("20251208", `{"title":"y"}`, at(2), follows)
	requireStale(t, err, 2)
	for _, date := range []string{"20251215", "20251222"} {
		_, err = put(date, `{"title":"y"}`, at(1), follows)
		var stale *command.StaleError
		require.ErrorAs(t, err, &stale)
		require.Equal(t, stale.Current, stale.Item.Int("version"))
		_, err = put(date, `{"title":"y"}`, at(2), follows, key(date))
		require.NoError(t, err)
		again, err := put(date, `{"title":"y"}`, at(2), key(date))
		require.NoError(t, err, "the number alone identifies the request")
		require.True(t, again.Replayed)
	}
}

func TestPutInstance_refusesAWrongException(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;COUNT=5","exdate":["20251222"],"rdate":["20251210"]`)
	for _, date := range []string{"20251201", "20251210"} {
		b.must(command.CancelInstance{MasterID: id, Date: date}, at(1))
	}
	for _, date := range []string{"20251202", "20251222", "20260105", "20251124"} {
		_, err := b.do(command.PutInstance{MasterID: id, Date: date, Fields: doc(`{"title":"x"}`)}, at(1))
		requireNotFound(t, err, "")
		_, err = b.do(command.CancelInstance{MasterID: id, Date: date}, at(1))
		requireNotFound(t, err, "")
	}
	for _, date := range []string{"2025-12-08", "", "20251308", "20251208#", "abcdefgh"} {
		_, err := b.do(command.PutInstance{MasterID: id, Date: date, Fields: doc(`{"title":"x"}`)}, at(1))
		require.Equal(t, []string{"/date"}, pointers(t, err))
		_, err = b.do(command.CancelInstance{MasterID: id, Date: date}, at(1))
		require.Equal(t, []string{"/date"}, pointers(t, err))
	}
	for _, other := range []struct {
		id string
		as option
	}{{id, as(bob)}, {"mst_x", as(ann)}, {"a#b", as(ann)}, {"", as(ann)}} {
		_, err := b.do(command.PutInstance{MasterID: other.id, Date: "20251208", Fields: doc(`{"title":"x"}`)},
			at(1), other.as)
		requireNotFound(t, err, "")
	}
	for _, c := range []struct {
		body     string
		pointers []string
	}{
		{`{"title":null,"status":null,"isAllDay":null}`, []string{"/title", "/status", "/isAllDay"}},
		{`{"title":""}`, []string{"/title"}},
		{`{"rrule":"FREQ=DAILY"}`, []string{"/rrule"}},
		{`{"masterId":"mst_x","recurrenceId":"2025-12-08T14:00:00Z","modifiedFields":["title"],"version":3}`,
			[]string{"/masterId", "/recurrenceId", "/modifiedFields", "/version"}},
		{`{"startUtc":null}`, []string{"/startUtc"}},
		{`{"startUtc":"2025-12-08T14:00:00"}`, []string{"/startUtc"}},
		{`{"endUtc":"2025-12-08T13:00:00Z"}`, []string{"/endUtc"}},
		{`{"endUtc":"2027-12-08T13:00:00Z"}`, []string{"/endUtc"}},
		{`{"startTzid":null}`, []string{"/startUtc", "/endUtc"}},
		{`{"isAllDay":true,"startUtc":"2025-12-08T13:00:00Z","startTzid":"UTC"}`, []string{"/startUtc", "/startTzid"}},
		{`{"location":"` + strings.Repeat("x", 501) + `"}`, []string{"/location"}},
		{`{"links":[{"targetType":"INSTANCE","targetId":"` + entity.InstanceID(id, "20251208") + `"}]}`,
			[]string{"/links/0"}},
	} {
		_, err := b.do(command.PutInstance{MasterID: id, Date: "20251208", Fields: doc(c.body)}, at(1))
		require.ElementsMatch(t, c.pointers, pointers(t, err), c.body)
	}
	_, err := b.do(command.PutInstance{MasterID: id, Date: "20251208",
		Fields: doc(`{"links":[{"targetType":"NOTE","targetId":"note_x"}]}`)}, at(1))
	requireNotFound(t, err, "/links/0/targetId")
	require.Nil(t, b.instance(id, "20251208"))
}

func TestPutInstance_boundsExceptionsToFiveHundred(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	day := func(i int) string { return item.CompactDate(noon.AddDate(0, 0, i)) }
	for i := range 500 {
		b.must(command.PutInstance{MasterID: id, Date: day(i), Fields: doc(fmt.Sprintf(`{"title":"%d"}`, i))}, at(1))
	}
	_, err := b.do(command.CancelInstance{MasterID: id, Date: day(500)}, at(1))
	requireState(t, err, "500")
	b.must(command.PutInstance{MasterID: id, Date: day(3), Fields: doc(`{"title":"changed once more"}`)}, at(2))
	b.must(command.PutInstance{MasterID: id, Date: day(4), Fields: doc(`{}`)}, at(2))
	b.must(command.CancelInstance{MasterID: id, Date: day(500)}, at(1))
	_, err = b.do(command.PutInstance{MasterID: id, Date: day(4), Fields: doc(`{"title":"x"}`)}, at(3+1))
	requireState(t, err, "500")
}

func TestPutInstance_respectsAnotherWriteInBetween(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	b.once("Transact", memory.Before, func() error {
		b.must(command.PutInstance{MasterID: id, Date: "20251203", Fields: doc(`{"title":"between"}`)}, at(1))
		return nil
	})
	b.must(command.PutInstance{MasterID: id, Date: "20251202", Fields: doc(`{"title":"x"}`)}, at(1))
	require.Equal(t, int64(2), b.master(id).Int("exceptionsVersion"))
	b.once("Transact", memory.Before, func() error {
		b.must(command.PutInstance{MasterID: id, Date: "20251202", Fields: doc(`{"title":"somebody else's"}`)}, at(1))
		return nil
	})
	_, err := b.do(command.PutInstance{MasterID: id, Date: "20251202", Fields: doc(`{"title":"y"}`)}, at(1))
	requireStale(t, err, 2)
	b.once("Update", memory.Before, func() error {
		b.must(command.CancelInstance{MasterID: id, Date: "20251204"}, at(1))
		return nil
	})
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251204"]}`)}, at(1))
	require.Empty(t, b.idle(), "the exception that came between is undone, too")
}

func TestPutInstance_replayFindsNoExceptionOfADeletedSeries(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	cmd := command.PutInstance{MasterID: id, Date: "20251203", Fields: doc(`{"title":"x"}`)}
	b.must(cmd, at(1), key("k"))
	_, err := b.do(command.CancelInstance{MasterID: id, Date: "20251203"}, at(1), key("k"))
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251203"]}`)}, at(1))
	res := b.must(cmd, at(1), key("k"))
	require.True(t, res.Replayed && res.Deleted)
	b.must(command.DeleteSeries{ID: id}, at(2))
	res = b.must(cmd, at(1), key("k"))
	require.True(t, res.Replayed && res.Deleted)
}

func TestAddLink_leadsToAnOccurrenceThatDiffers(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	note := b.create(product.Note(), `{"title":"n"}`)
	add := command.AddLink{
		Type: product.Note(), ID: note, Target: entity.Ref{Type: "INSTANCE", ID: entity.InstanceID(id, "20251203")},
	}
	_, err := b.do(add)
	requireNotFound(t, err, "/targetId")
	b.except(id, "20251203", `{"title":"x"}`)
	b.must(add)
	b.must(command.RemoveLink{Type: product.Note(), ID: note, Target: add.Target})
	b.except(id, "20251203", `{}`)
	_, err = b.do(add)
	requireNotFound(t, err, "/targetId")
}
