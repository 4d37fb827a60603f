package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

func TestCreateSeries_createsASeriesWithItsRule(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	create := command.CreateSeries{
		Fields: doc(`{` + standup +
			`,"rrule":"freq=weekly;byday=mo","reminderMinutes":[10],"links":[{"targetType":"NOTE","targetId":"` + note + `"}]}`),
	}
	res := b.must(create, key("k"))
	b.took("BatchGet Transact")
	require.True(t, res.Created)
	it := res.Item
	require.True(t, it.Equal(b.master(res.Ref.ID)))
	require.Equal(t,
		[]string{res.Ref.ID, res.Ref.ID + "@nexus.app", "MASTER#ACTIVE#9999-12-31T23:59:59Z", "2025-12-01T12:00:00Z"},
		[]string{it.Str("eventId"), it.Str("icalUid"), it.Str("GSI3SK"), it.Str("dueSetAt")})
	require.False(t, it.Has("hasExceptions"))
	res = b.must(create, key("k"))
	require.True(t, res.Replayed && res.Created)
	require.True(t, it.Equal(res.Item))

	id := "mst_" + uuid(9)
	require.Equal(t, id, b.must(command.CreateSeries{
		Fields: doc(`{` + standup + `,"rrule":"FREQ=DAILY","masterId":"` + id + `"}`),
	}).Ref.ID)
	_, err := b.do(command.CreateSeries{Fields: doc(`{` + standup + `,"rrule":"FREQ=DAILY","masterId":"` + id + `"}`)})
	requireState(t, err, "exists already")
	for _, c := range []struct{ text, pointer string }{
		{`{` + standup + `}`, "/rrule"},
		{`{` + standup + `,"rrule":null}`, "/rrule"},
		{`{` + standup + `,"rrule":"FREQ=HOURLY"}`, "/rrule"},
		{`{` + standup + `,"rrule":"FREQ=DAILY","rruleUntil":"2025-11-30T00:00:00Z"}`, "/rrule"},
		{`{` + standup + `,"rrule":"FREQ=DAILY","exdate":["2025-12-01"]}`, "/exdate"},
		{`{` + standup + `,"rrule":"FREQ=DAILY","lastStartUtc":"2025-12-01T14:00:00Z"}`, "/lastStartUtc"},
		{`{` + standup + `,"rrule":"FREQ=DAILY","hasExceptions":true}`, "/hasExceptions"},
		{`{` + standup + `,"rrule":"FREQ=DAILY","exceptionsVersion":7}`, "/exceptionsVersion"},
	} {
		_, err := b.do(command.CreateSeries{Fields: doc(c.text)})
		require.Equal(t, []string{c.pointer}, pointers(t, err), c.text)
	}
}

func TestCreateSeries_derivesTheLastOccurrence(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	for _, c := range []struct{ fields, last string }{
		{`"rrule":"FREQ=WEEKLY;COUNT=3"`, "2025-12-15T14:00:00Z"},
		{`"rrule":"FREQ=WEEKLY","rruleUntil":"2025-12-20T00:00:00Z"`, "2025-12-15T14:00:00Z"},
		{`"rrule":"FREQ=WEEKLY;UNTIL=20251208T140000Z","rruleUntil":"2025-12-20T00:00:00Z"`, "2025-12-08T14:00:00Z"},
		{`"rrule":"FREQ=WEEKLY;UNTIL=20251230T140000Z","rruleUntil":"2025-12-20T00:00:00Z"`, "2025-12-15T14:00:00Z"},
		{`"rrule":"FREQ=WEEKLY;COUNT=3","exdate":["20251215"]`, "2025-12-08T14:00:00Z"},
		{`"rrule":"FREQ=WEEKLY"`, ""},
	} {
		require.Equal(t, c.last, b.master(b.newSeries(c.fields)).Str("lastStartUtc"), c.fields)
	}
}

func TestUpdate_leavesSeriesToTheirOwnCommands(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	note := b.create(product.Note(), `{"title":"n"}`)
	exception := entity.InstanceID(id, "20251202")
	b.except(id, "20251202", `{"title":"x"}`)
	target := entity.Ref{Type: "NOTE", ID: note}
	before := b.shown()
	for _, cmd := range []command.Command{
		command.Create{Type: product.Master(), Fields: doc(`{` + standup + `,"rrule":"FREQ=DAILY"}`)},
		command.Update{Type: product.Master(), ID: id, Patch: doc(`{"title":"x"}`)},
		command.Delete{Type: product.Master(), ID: id},
		command.CustomCommand{Name: "x", Type: product.Master(), ID: id},
		command.Create{Type: product.Instance(), Fields: doc(`{"title":"x"}`)},
		command.Update{Type: product.Instance(), ID: exception, Patch: doc(`{"title":"y"}`)},
		command.Delete{Type: product.Instance(), ID: exception},
		command.CustomCommand{Name: "x", Type: product.Instance(), ID: exception},
		command.AddLink{Type: product.Instance(), ID: exception, Target: target},
		command.RemoveLink{Type: product.Instance(), ID: exception, Target: target},
	} {
		_, err := b.do(cmd, at(1))
		require.ErrorIs(t, err, command.ErrOwnCommands, "%T", cmd)
	}
	require.Equal(t, before, b.shown())
	linked := b.must(command.AddLink{Type: product.Master(), ID: id, Target: target}).Item
	require.Equal(t, []entity.Link{{Target: target}}, entity.LinksOf(linked))
	require.Equal(t, int64(1), linked.Int("sequence"))
	require.True(t, linked.Bool("hasExceptions"))
	require.Empty(t, entity.LinksOf(b.must(command.RemoveLink{Type: product.Master(), ID: id, Target: target}).Item))
}

func TestCreateSeries_turnsAnEventIntoASeries(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	link := `"links":[{"targetType":"NOTE","targetId":"` + note + `"}]`
	event := b.create(product.Event(), `{`+standup+`,"location":"room 1","tags":["a"],"reminderMinutes":[5],`+link+`}`)
	before := b.stored(product.Event(), event)
	b.must(command.Delete{Type: product.Note(), ID: note}, at(1)) // a link that leads nowhere is no news
	cmd := command.CreateSeries{FromEventID: event, Fields: doc(`{"rrule":"FREQ=WEEKLY","title":"weekly","tags":null}`)}

	_, err := b.do(cmd)
	require.ErrorIs(t, err, command.ErrNoVersion)
	_, err = b.do(cmd, at(2))
	requireStale(t, err, 1)
	_, err = b.do(command.CreateSeries{FromEventID: event, Fields: doc(`{"title":"weekly"}`)}, at(1))
	require.Equal(t, []string{"/rrule"}, pointers(t, err))
	_, err = b.do(cmd, at(1), as(bob))
	requireNotFound(t, err, "/fromEventId")
	for _, id := range []string{"evt_x", "mst_x", "a#b", note} {
		_, err = b.do(command.CreateSeries{FromEventID: id, Fields: cmd.Fields}, at(1))
		requireNotFound(t, err, "/fromEventId")
	}

	b.trips()
	res := b.must(cmd, at(1), key("k"))
	b.took("BatchGet Transact")
	require.True(t, res.Created)
	it := b.master(res.Ref.ID)
	require.True(t, it.Equal(res.Item))
	require.Equal(t, []string{"weekly", "room 1", before.Str("icalUid"), "2025-12-01T14:30:00Z", "2025-12-01T12:00:00Z"},
		[]string{it.Str("title"), it.Str("location"), it.Str("icalUid"), it.Str("endUtc"), it.Str("dueSetAt")})
	require.Equal(t, entity.LinksOf(before), entity.LinksOf(it))
	require.Equal(t, []int64{1, 1, 5}, []int64{it.Int("version"), it.Int("sequence"), it.Ints("reminderMinutes")[0]})
	require.False(t, it.Has("tags"))
	require.Nil(t, b.stored(product.Event(), event))
	require.EqualValues(t, 2, b.row(entity.GoneKey(ann, event)).Int("version"), "the version that the removal counts as")

	again := b.must(cmd, at(1), key("k"))
	require.True(t, again.Replayed)
	require.Equal(t, res.Ref, again.Ref)
	_, err = b.do(cmd, at(1))
	requireNotFound(t, err, "/fromEventId")
}

func TestUpdateSeries_movesASeriesWithItsStart(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;BYDAY=MO","reminderMinutes":[10]`)
	b.now = b.now.Add(60e9)
	res := b.must(command.UpdateSeries{ID: id,
		Patch: doc(`{"startUtc":"2025-12-02T15:00:00Z","endUtc":"2025-12-02T15:30:00Z"}`)}, at(1))
	require.Equal(t, []string{"FREQ=WEEKLY;BYDAY=TU", "2025-12-01T12:01:00Z"},
		[]string{res.Item.Str("rrule"), res.Item.Str("dueSetAt")})
	require.Equal(t, []int64{2, 1}, []int64{res.Item.Int("version"), res.Item.Int("sequence")})
	res = b.must(command.UpdateSeries{ID: id, Patch: doc(
		`{"startUtc":"2025-12-03T15:00:00Z","endUtc":"2025-12-03T15:30:00Z","rrule":"FREQ=WEEKLY;BYDAY=TU"}`)}, at(2))
	require.Equal(t, "FREQ=WEEKLY;BYDAY=TU", res.Item.Str("rrule"), "the client's own rule stands")
	b.now = b.now.Add(60e9)
	res = b.must(command.UpdateSeries{ID: id, Patch: doc(`{"startTzid":"Europe/Paris"}`)}, at(3))
	require.Equal(t, "2025-12-01T12:02:00Z", res.Item.Str("dueSetAt"), "other occurrences are at other times")
	b.now = b.now.Add(60e9)
	b.trips()
	res = b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"another"}`)}, at(4))
	b.took("BatchGet Update")
	require.Equal(t, "2025-12-01T12:02:00Z", res.Item.Str("dueSetAt"))
	res = b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"another"}`)}, at(5))
	require.Equal(t, int64(5), res.Item.Int("version"))
	_, err := b.do(command.UpdateSeries{ID: id, Patch: doc(`{"title":"x"}`)})
	require.ErrorIs(t, err, command.ErrNoVersion)
	_, err = b.do(command.UpdateSeries{ID: id, Patch: doc(`{"title":"x"}`)}, at(1))
	requireStale(t, err, 5)
	_, err = b.do(command.UpdateSeries{ID: id, Patch: doc(`{"title":"x"}`)}, at(5), as(bob))
	requireNotFound(t, err, "")
	_, err = b.do(command.UpdateSeries{ID: "mst_a#b", Patch: doc(`{"title":"x"}`)}, at(5))
	requireNotFound(t, err, "")
	_, err = b.do(command.UpdateSeries{ID: id, Patch: doc(`{"rrule":null,"masterId":"mst_x","sequence":4}`)}, at(5))
	require.ElementsMatch(t, []string{"/rrule", "/masterId", "/sequence"}, pointers(t, err))
}

func TestUpdateSeries_toAnotherKindKeepsItsOccurrences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, patch, rule, end, last string }{
		{"floating", `{"startTzid":null,"startUtc":"2025-12-01T09:00:00","endUtc":"2025-12-01T09:30:00"}`,
			"FREQ=WEEKLY;UNTIL=20251222T090000", "2025-12-15T09:00:00Z", "2025-12-15T09:00:00Z"},
		{"whole days", `{"isAllDay":true,"startDate":"2025-12-01","startUtc":null,"endUtc":null,"startTzid":null}`,
			"FREQ=WEEKLY;UNTIL=20251222", "2025-12-15T00:00:00Z", "2025-12-15T00:00:00Z"},
		{"another zone", `{"startTzid":"Asia/Kolkata","startUtc":"2025-12-01T03:30:00Z","endUtc":"2025-12-01T04:00:00Z"}`,
			"FREQ=WEEKLY;UNTIL=20251222T033000Z", "2025-12-15T03:30:00Z", "2025-12-15T03:30:00Z"},
	} {
		b := setupSeries(t)
		id := b.newSeries(`"rrule":"FREQ=WEEKLY;UNTIL=20251222T140000Z","rruleUntil":"2025-12-15T14:00:00Z"`)
		res := b.must(command.UpdateSeries{ID: id, Patch: doc(c.patch)}, at(1))
		require.Equal(t, []string{c.rule, c.end, c.last},
			[]string{res.Item.Str("rrule"), res.Item.Str("rruleUntil"), res.Item.Str("lastStartUtc")}, c.kind)
		res = b.must(command.UpdateSeries{ID: id, Patch: doc(`{"isAllDay":false,"startDate":null,"endDate":null,` +
			`"startTzid":"America/New_York","startUtc":"2025-12-01T14:00:00Z","endUtc":"2025-12-01T14:30:00Z"}`)}, at(2))
		require.Equal(t, []string{"FREQ=WEEKLY;UNTIL=20251222T140000Z", "2025-12-15T14:00:00Z"},
			[]string{res.Item.Str("rrule"), res.Item.Str("rruleUntil")}, "back from "+c.kind)
	}
}

func TestUpdateSeries_keepsExceptionsWhoseDatesStayOccurrences(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;BYDAY=MO,WE"`)
	b.except(id, "20251203", `{"title":"on Wednesday"}`)
	b.except(id, "20251208", `{"startUtc":"2025-12-08T20:00:00Z"}`)
	b.except(id, "20251215", `{"title":"on Monday"}`)
	b.cancel(id, "20251217")
	b.trips()

	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"startUtc":"2025-12-01T16:00:00Z","endUtc":"2025-12-01T17:00:00Z"}`)},
		at(1))
	b.took("BatchGet Query Update", "another time of day costs nothing but the look")
	require.Contains(t, b.shown(), `20251208 2025-12-08T20:00:00Z to 2025-12-08T20:30:00Z: `+b.seen(id, "20251208"))
	require.Contains(t, b.shown(), `20251215 2025-12-15T16:00:00Z to 2025-12-15T17:00:00Z: `+b.seen(id, "20251215"))
	b.trips()

	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"rrule":"FREQ=WEEKLY;BYDAY=MO"}`)}, at(2))
	b.took("BatchGet Query Update Transact")
	require.Empty(t, b.idle())
	require.False(t, b.instance(id, "20251203").Has("modifiedFields"))
	require.Equal(t, int64(3), b.instance(id, "20251203").Int("version"))
	require.Equal(t, int64(2), b.instance(id, "20251208").Int("version"))

	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"rrule":"FREQ=WEEKLY;BYDAY=MO,WE"}`)}, at(3))
	require.Equal(t, `{"entityType":"INSTANCE"`, b.seen(id, "20251203")[:24])
	require.NotContains(t, b.seen(id, "20251203"), "on Wednesday", "what was dropped does not come back")
	require.NotContains(t, b.seen(id, "20251217"), "CANCELLED")
}

// seen is an occurrence as its user sees it.
func (b *fixture) seen(masterID, date string) string {
	b.t.Helper()
	for _, line := range b.shown() {
		if len(line) > 8 && line[:8] == date {
			_, text, _ := cutText(line)
			return text
		}
	}
	return ""
}

func TestUpdateSeries_restoresNoExceptionThatAnEarlierOneHid(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	b.except(id, "20251203", `{"title":"old"}`)
	row := b.instance(id, "20251203")
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251203"]}`)}, at(1))
	// As if the tidying of that change had never come.
	require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row}))
	require.Equal(t, []string{"idle " + row.Str("eventId")}, b.idle())
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":null}`)}, at(2))
	require.NotContains(t, b.seen(id, "20251203"), "old")
	require.Empty(t, b.idle())
}

func TestEndSeries_endsASeries(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251208", `{"title":"stays"}`)
	b.except(id, "20251215", `{"title":"goes","startUtc":"2025-12-02T15:00:00Z"}`)
	b.trips()
	_, err := b.do(command.EndSeries{ID: id, UntilUtc: "2025-12-14T00:00:00Z"})
	require.ErrorIs(t, err, command.ErrNoVersion)
	res := b.must(command.EndSeries{ID: id, UntilUtc: "2025-12-14T01:00:00+01:00"}, at(1), key("k"))
	b.took("BatchGet Query Transact Transact")
	require.Equal(t, []string{"2025-12-14T00:00:00Z", "2025-12-08T14:00:00Z", "MASTER#ACTIVE#2025-12-08T14:30:00Z"},
		[]string{res.Item.Str("rruleUntil"), res.Item.Str("lastStartUtc"), res.Item.Str("GSI3SK")})
	require.Contains(t, b.seen(id, "20251208"), "stays")
	require.Empty(t, b.seen(id, "20251215"))
	require.Empty(t, b.idle())
	require.True(t, b.must(command.EndSeries{ID: id, UntilUtc: "2025-12-14T01:00:00+01:00"}, at(1), key("k")).Replayed)
	res = b.must(command.EndSeries{ID: id, UntilUtc: "2026-12-14T00:00:00Z"}, at(2))
	require.Equal(t, int64(2), res.Item.Int("version"), "it ends earlier already")
	for _, until := range []string{"2025-11-30T00:00:00Z", "2025-12-01T13:59:59Z", "2025-12-14T00:00:00", "tomorrow", ""} {
		_, err = b.do(command.EndSeries{ID: id, UntilUtc: until}, at(2))
		require.Equal(t, []string{"/untilUtc"}, pointers(t, err), until)
	}
	res = b.must(command.EndSeries{ID: id, UntilUtc: "2025-12-01T14:00:00Z"}, at(2))
	require.Equal(t, "2025-12-01T14:00:00Z", res.Item.Str("lastStartUtc"))

	floating := b.must(command.CreateSeries{
		Fields: doc(`{"title":"f","isAllDay":true,"startDate":"2025-12-01","rrule":"FREQ=DAILY"}`),
	}).Ref.ID
	_, err = b.do(command.EndSeries{ID: floating, UntilUtc: "2025-12-14T00:00:00Z"}, at(1))
	require.Equal(t, []string{"/untilUtc"}, pointers(t, err))
	res = b.must(command.EndSeries{ID: floating, UntilUtc: "2025-12-14T00:00:00"}, at(1))
	require.Equal(t, "2025-12-14T00:00:00Z", res.Item.Str("lastStartUtc"))
}

func TestUpdateSeries_cancelledShowsItsOccurrencesCancelled(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251208", `{"status":"TENTATIVE"}`)
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"status":"CANCELLED"}`)}, at(1))
	require.Contains(t, b.seen(id, "20251201"), "CANCELLED")
	require.Contains(t, b.seen(id, "20251208"), "TENTATIVE")
}

func TestDeleteSeries_deletesASeriesWithItsExceptions(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	b.except(id, "20251203", `{"title":"x"}`)
	b.cancel(id, "20251204")
	_, err := b.do(command.DeleteSeries{ID: id})
	require.ErrorIs(t, err, command.ErrNoVersion)
	_, err = b.do(command.DeleteSeries{ID: id}, at(7))
	requireStale(t, err, 1)
	require.Contains(t, b.seen(id, "20251203"), `"title":"x"`, "what is refused takes no exception away")
	b.trips()
	res := b.must(command.DeleteSeries{ID: id}, at(1), key("k"))
	b.took("Transact Query Transact")
	require.True(t, res.Deleted)
	require.Empty(t, b.rowsOf(id))
	require.Nil(t, b.master(id))
	require.NotNil(t, b.row(entity.GoneKey(ann, id)))
	require.True(t, b.must(command.DeleteSeries{ID: id}, at(1), key("k")).Replayed)
	_, err = b.do(command.DeleteSeries{ID: id}, at(1))
	requireNotFound(t, err, "")
	_, err = b.do(command.PutInstance{MasterID: id, Date: "20251203", Fields: doc(`{"title":"x"}`)}, at(1))
	requireNotFound(t, err, "")
	_, err = b.do(command.CreateSeries{Fields: doc(`{` + standup + `,"rrule":"FREQ=DAILY","masterId":"` + id + `"}`)})
	requireState(t, err, "was deleted")
}
