package command_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// day is a date of the standup, counted from 1 December 2025.
func day(i int) string { return item.CompactDate(noon.AddDate(0, 0, i)) }

func TestImport_givesAnExceptionWhatDiffers(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id, _ := b.takes(command.Created, daily("a", `,"reminderMinutes":[5]`,
		differing("20251203", `{"title":"only a title","reminderMinutes":[5]}`),
		differing("20251204", `{"startUtc":"2025-12-04T20:00:00Z","endUtc":"2025-12-04T20:30:00Z","reminderMinutes":[5]}`),
		differing("20251205", `{"reminderMinutes":[5]}`),
	))
	require.Nil(t, b.instance(id, "20251205"), "it is as the series has it")
	titled, moved := b.instance(id, "20251203"), b.instance(id, "20251204")
	require.Equal(t, []string{"title"}, titled.Strings("modifiedFields"))
	require.False(t, titled.Has("dueSetAt"), "its instants are the series'")
	require.Equal(t, []string{"startUtc", "endUtc"}, moved.Strings("modifiedFields"))
	require.Equal(t, "2025-12-01T12:00:00Z", moved.Str("dueSetAt"))

	b.now = noon.Add(time.Hour)
	late := differing("20251204", `{"title":"back in time","reminderMinutes":[5]}`)
	late.Stamp = b.now
	b.takes(command.Unchanged, daily("a", `,"reminderMinutes":[5]`, late))
	moved = b.instance(id, "20251204")
	require.Equal(t, []string{"title"}, moved.Strings("modifiedFields"))
	require.Equal(t, "2025-12-01T13:00:00Z", moved.Str("dueSetAt"), "its instants moved back")
}

func TestImport_givesAnExceptionEverythingThatIsStated(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	was := differing("20251203", `{"title":"one","location":"here","tags":["a"]}`)
	was.Kept = "X-ONE:1\n"
	id, _ := b.takes(command.Created, daily("a", "", was))
	is := differing("20251203", `{"title":"two","description":"d","status":"TENTATIVE",`+
		`"startUtc":"2025-12-03T20:00:00Z","endUtc":"2025-12-03T21:00:00Z"}`)
	is.Sequence, is.Stamp, is.Kept = 5, noon.Add(time.Minute), "X-TWO:2\n"
	b.takes(command.Unchanged, daily("a", "", is))
	row := b.instance(id, "20251203")
	require.ElementsMatch(t, []string{"title", "description", "status", "startUtc", "endUtc", "kept"},
		row.Strings("modifiedFields"))
	require.Equal(t, []string{"two", "d", "TENTATIVE", "2025-12-03T20:00:00Z", "2025-12-03T21:00:00Z"},
		[]string{row.Str("title"), row.Str("description"), row.Str("status"), row.Str("startUtc"), row.Str("endUtc")})
	require.Equal(t, []any{int64(5), int64(3), false, false},
		[]any{row.Int("sequence"), row.Int("version"), row.Has("location"), row.Has("tags")})
	require.Equal(t, "2025-12-01T12:01:00Z", row.Str(product.AttrStamp))
	require.Equal(t, "X-TWO:2\n", b.row(entity.KeptKey(row.Key())).Str("text"))
}

func TestImport_choosesAnExceptionOfOneRevisionByItsStamp(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	import1 := func(text, kept string, stamp time.Time) command.ImportResult {
		x := differing("20251203", text)
		x.Stamp, x.Kept = stamp, kept
		return b.imports(daily("a", "", x))[0].Exceptions[0]
	}
	later, earlier := noon.Add(time.Minute), noon.Add(-time.Hour)
	require.Equal(t, command.Created, import1(`{"title":"one"}`, "X:1\n", noon).Outcome)
	same := import1(`{"title":"one"}`, "X:1\n", earlier)
	require.NoError(t, same.Err, "what says the same is never outdated")
	require.Equal(t, command.Unchanged, same.Outcome)
	require.ErrorIs(t, import1(`{"title":"two"}`, "X:1\n", earlier).Err, command.ErrOutdated)
	require.Equal(t, command.Updated, import1(`{"title":"two"}`, "X:1\n", later).Outcome)
	require.ErrorIs(t, import1(`{"title":"two"}`, "X:2\n", earlier).Err, command.ErrOutdated)
	require.Equal(t, command.Updated, import1(`{"title":"two"}`, "X:2\n", later).Outcome)
	require.ErrorIs(t, import1(`{"title":"two","location":"here"}`, "X:2\n", earlier).Err, command.ErrOutdated)
	require.Equal(t, command.Updated, import1(`{}`, "", later).Outcome)
	twice := b.imports(daily("a", "", differing("20251203", `{"title":"three"}`),
		differing("20251203", `{"title":"four"}`), differing("20251130", `{}`)))[0].Exceptions
	require.Equal(t, command.Updated, twice[0].Outcome)
	require.ErrorIs(t, twice[1].Err, command.ErrTwice)
	require.ErrorIs(t, twice[2].Err, command.ErrNoOccurrence)
}

func TestImport_holdsTheBoundOfExceptions(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id, _ := b.takes(command.Created,
		daily("a", "", differing(day(0), `{"title":"x"}`), differing(day(499), `{"title":"undone"}`)))
	var rows []item.Item
	for i := range 498 {
		row := b.instance(id, day(0)).Clone()
		instance := entity.InstanceID(id, day(i+1))
		key := entity.ItemKey(ann, entity.Ref{Type: entity.TypeInstance, ID: instance})
		row["PK"], row["SK"], row["eventId"] = item.String(key.PK), item.String(key.SK), item.String(instance)
		rows = append(rows, row)
	}
	require.NoError(t, b.store.Load(t.Context(), rows))
	b.except(id, day(499), `{}`)
	// 499 exceptions, and the row of one that was undone.
	exceptions := func(list ...command.Exception) []command.ImportResult {
		for i := range list {
			list[i].Sequence = 9
		}
		return b.imports(daily("a", "", list...))[0].Exceptions
	}
	two := exceptions(differing(day(740), `{"title":"fits"}`), differing(day(741), `{"title":"does not fit"}`))
	require.Equal(t, command.Created, two[0].Outcome)
	require.ErrorIs(t, two[1].Err, command.ErrManyExceptions)
	there := exceptions(differing(day(740), `{"title":"changed"}`))
	require.Equal(t, command.Updated, there[0].Outcome)
	three := exceptions(differing(day(740), `{}`), differing(day(741), `{"title":"in its place"}`),
		differing(day(742), `{"title":"does not fit"}`))
	require.Equal(t, []command.Outcome{command.Updated, command.Created},
		[]command.Outcome{three[0].Outcome, three[1].Outcome})
	require.ErrorIs(t, three[2].Err, command.ErrManyExceptions)
	require.Contains(t, b.instance(id, day(741)).Str("title"), "in its place")
}

func TestImport_writesInPartsWhatATransactionCannotHold(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	many := func(n int, title string) []command.Exception {
		var list []command.Exception
		for i := range n {
			x := differing(day(i), fmt.Sprintf(`{"title":"%s %d"}`, title, i))
			x.Sequence = 1
			list = append(list, x)
		}
		return list
	}
	id, row := b.takes(command.Created, daily("long", "", many(150, "x")...))
	require.Len(t, b.rowsOf(id), 150)
	require.EqualValues(t, 4, row.Int("exceptionsVersion"))
	var things []command.Imported
	for i := range 5 {
		x := daily(fmt.Sprint(i), "", many(46, "y")...)
		x.Kept = "X:1\n"
		things = append(things, x)
	}
	for _, res := range b.imports(things...) {
		require.Equal(t, command.Created, res.Outcome)
		require.Len(t, b.rowsOf(res.Ref.ID), 46)
	}

	// Another writes an exception of the series between two parts.
	transactions := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if transactions++; transactions == 2 {
			b.fault = nil
			b.except(id, day(200), `{"title":"mine"}`)
		}
		return nil
	}
	next := daily("long", "", many(150, "z")...)
	for i := range next.Exceptions {
		next.Exceptions[i].Sequence = 2
	}
	b.takes(command.Unchanged, next)
	for i := range 150 {
		require.Equal(t, fmt.Sprintf("z %d", i), b.instance(id, day(i)).Str("title"))
	}
	require.Equal(t, "mine", b.instance(id, day(200)).Str("title"))
	b.fault = nil
	transactions = 0
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			if transactions++; transactions == 2 {
				return table.ErrThrottled
			}
		}
		return nil
	}
	next.Exceptions = many(150, "w")
	for i := range next.Exceptions {
		next.Exceptions[i].Sequence = 3
	}
	_, err := b.service.Import(t.Context(), ann, []command.Imported{next})
	require.ErrorIs(t, err, table.ErrThrottled)
}

func TestImport_undoesWhatTheLatestRevisionDoesNotName(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	link := `"links":[{"targetType":"NOTE","targetId":"` + note + `"}]`
	id, _ := b.takes(command.Created, daily("a", ""))
	for i, text := range []string{
		`{"title":"linked",` + link + `}`, `{"title":"plain"}`, `{"title":"linked, too",` + link + `}`, `{"title":"named"}`,
		`{"title":"plain, too"}`,
	} {
		b.except(id, day(i), text)
	}
	named := differing(day(3), `{"title":"named"}`)
	named.Sequence = 7
	x := daily("a", `,"location":"room 1"`, named)
	x.Exceptions[0].Fields["location"] = item.String("room 1")
	x.Sequence = 7
	b.takes(command.Updated, x)
	for _, i := range []int{0, 2} {
		row := b.instance(id, day(i))
		require.Equal(t, []string{"links"}, row.Strings("modifiedFields"), "the user's own links stay")
		require.Len(t, entity.LinksOf(row), 1)
	}
	for _, i := range []int{1, 4} {
		require.False(t, b.instance(id, day(i)).Has("modifiedFields"))
	}
	require.Equal(t, "named", b.instance(id, day(3)).Str("title"))
	require.Empty(t, b.idle())
}

// hide makes an exception on a date that the series has no more, as a change leaves it that did not come to tidy up.
func (b *fixture) hide(id, date string) {
	b.t.Helper()
	b.except(id, date, `{"title":"hidden"}`)
	row := b.instance(id, date)
	b.must(command.UpdateSeries{ID: id, Patch: map[string]any{"exdate": []any{date}}}, at(b.master(id).Int("version")))
	require.NoError(b.t, b.store.Put(b.t.Context(), table.Put{Item: row}))
}

func TestImport_tidiesUpBesideOtherItems(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id, _ := b.takes(command.Created,
		daily("a", "", differing("20251204", `{"title":"lost"}`), differing("20251205", `{"title":"stays"}`)))
	b.hide(id, "20251203")
	require.Len(t, b.idle(), 1)
	// The date that was left out comes back, and another goes.
	x := daily("a", `,"exdate":["20251204"]`)
	x.Stamp, x.Sequence = noon.Add(time.Hour), b.master(id).Int("sequence")
	results := b.imports(thing(product.Event(), "before", `{`+standup+`}`), x,
		thing(product.Event(), "behind", `{`+standup+`}`))
	for i, want := range []command.Outcome{command.Created, command.Updated, command.Created} {
		require.NoError(t, results[i].Err)
		require.Equal(t, want, results[i].Outcome)
	}
	require.Empty(t, b.idle())
	require.NotContains(t, b.seen(id, "20251203"), "hidden")
	require.Contains(t, b.seen(id, "20251205"), `"title":"stays"`)
	require.False(t, b.instance(id, "20251204").Has("modifiedFields"))
}

// The import dies between the series' new rule and its lost exceptions. Its repetition finds the series unchanged.
func TestImport_finishesTidyingUpByRepetition(t *testing.T) {
	t.Parallel()
	for _, onlyExceptions := range []bool{false, true} {
		b := setupSeries(t)
		b.takes(command.Created, daily("a", "", differing("20251204", `{"title":"lost"}`)))
		x := daily("a", `,"exdate":["20251204"]`)
		x.Stamp = noon.Add(time.Hour)
		transactions := 0
		b.fault = func(c memory.Call) error {
			if c.Op == "Transact" && c.Stage == memory.Before {
				if transactions++; transactions == 2 {
					return table.ErrUnavailable
				}
			}
			return nil
		}
		_, err := b.service.Import(t.Context(), ann, []command.Imported{x})
		require.ErrorIs(t, err, table.ErrUnavailable)
		b.fault = nil
		require.Len(t, b.idle(), 1)
		x.OnlyExceptions = onlyExceptions
		b.takes(command.Unchanged, x)
		require.Empty(t, b.idle())
		b.trips()
		b.takes(command.Unchanged, x)
		require.NotContains(t, b.trips(), "Transact")

		b.hide(b.imports(x)[0].Ref.ID, "20251203")
		x.Says = func(item.Item, map[item.Key]string, []item.Item) bool { return true }
		x.Sequence = 1
		b.takes(command.Unchanged, x)
		require.Empty(t, b.idle(), "what says the same is tidied, too")
	}
}

func TestImport_tidiesUpAfterALongSeries(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id, _ := b.takes(command.Created, daily("a", "", differing("20251204", `{"title":"lost"}`)))
	x := daily("a", `,"exdate":["20251204"]`)
	for i := range 60 {
		if date := day(i + 10); date != "20251204" {
			x.Exceptions = append(x.Exceptions, differing(date, `{"title":"new"}`))
		}
	}
	x.Stamp = noon.Add(time.Hour)
	results := b.imports(x, thing(product.Event(), "behind", `{`+standup+`}`))
	require.Equal(t, []command.Outcome{command.Updated, command.Created},
		[]command.Outcome{results[0].Outcome, results[1].Outcome})
	require.Empty(t, b.idle())
	require.Len(t, datesOf(b.rowsOf(id)), 60)
}

func TestImport_showsNoKeyOfADamagedSeries(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id, row := b.takes(command.Created, daily("a", ""))
	b.set(row.Key(), item.Item{"startTzid": item.String("Mars/Olympus_Mons")})
	x := daily("a", "", differing("20251204", `{"title":"x"}`))
	x.OnlyExceptions = true
	res := b.imports(x)[0]
	require.Equal(t, command.Refused, res.Outcome)
	require.ErrorIs(t, res.Err, command.ErrDamaged)
	require.NotContains(t, res.Err.Error(), id)
}

func TestImport_keepsWhatNoFieldHolds(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	x := daily("a", "")
	x.Kept = "X-ONE:1\n"
	id, row := b.takes(command.Created, x)
	key := entity.KeptKey(row.Key())
	require.Equal(t, "X-ONE:1\n", b.row(key).Str("text"))
	x.Kept, x.Sequence = "X-TWO:2\n", 1
	_, _ = b.takes(command.Updated, x)
	require.Equal(t, "X-TWO:2\n", b.row(key).Str("text"))
	x.Kept, x.Sequence = "", 2
	_, row = b.takes(command.Updated, x)
	require.False(t, row.Has("kept"))
	require.Nil(t, b.row(key))
	x.Kept, x.Sequence = "X-ONE:1\n", 3
	_, _ = b.takes(command.Updated, x)
	b.must(command.DeleteSeries{ID: id}, at(4))
	require.Nil(t, b.row(key), "it goes with the series")
}

func TestImport_leavesNothingOfASeriesThatAnEventReplaces(t *testing.T) {
	t.Parallel()
	for _, exceptions := range []int{1, 23, 25, 60} {
		b := setupSeries(t)
		x := daily("a", "")
		for i := range exceptions {
			d := differing(day(i), `{"title":"x"}`)
			if i%2 == 0 {
				d.Kept = "X:1\n"
			}
			x.Exceptions = append(x.Exceptions, d)
		}
		id, _ := b.takes(command.Created, x)
		event := thing(product.Event(), "a", `{`+standup+`}`)
		event.Sequence = 1
		b.once("Transact", memory.Before, func() error {
			b.except(id, day(100), `{"title":"between"}`)
			return nil
		})
		results := b.imports(event, thing(product.Event(), "other", `{`+standup+`}`))
		require.Equal(t, []command.Outcome{command.Created, command.Created},
			[]command.Outcome{results[0].Outcome, results[1].Outcome})
		require.Empty(t, b.rowsOf(id))
		require.Nil(t, b.master(id))
		kept, err := allRows(b.store, table.Query{Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.RowKept}})
		require.NoError(t, err)
		require.Empty(t, kept)
	}
}

func TestImport_leavesAnItemOfAnotherTypeWithALaterStamp(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	event := thing(product.Event(), "a", `{`+standup+`}`)
	id, before := b.takes(command.Created, event)
	older := daily("a", "")
	older.Stamp = noon.Add(-time.Hour)
	require.ErrorIs(t, b.imports(older)[0].Err, command.ErrOutdated)
	require.True(t, before.Equal(b.stored(product.Event(), id)))
	b.takes(command.Created, daily("a", ""))
	require.Nil(t, b.stored(product.Event(), id))
}

func TestImport_findsASeriesThatAnEventBecame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(b *fixture, id string)
		want command.Outcome
	}{
		{"there", func(*fixture, string) {}, command.Updated},
		{"deleted", func(b *fixture, id string) { b.must(command.DeleteSeries{ID: id}, at(1)) }, command.Created},
		{"expired", func(b *fixture, id string) {
			b.set(entity.ItemKey(ann, entity.Ref{Type: entity.TypeMaster, ID: id}), item.Item{"ttl": item.Int(noon.Unix() - 1)})
		}, command.Created},
	} {
		b := setupSeries(t)
		event := b.create(product.Event(), `{`+standup+`}`)
		id := b.must(command.CreateSeries{FromEventID: event, Fields: doc(`{"rrule":"FREQ=DAILY"}`)}, at(1)).Ref.ID
		c.end(b, id)
		x := daily(event+"@nexus.app", `,"location":"theirs"`)
		x.Known, x.Sequence = event, 9
		res := b.imports(x)[0]
		require.NoError(t, res.Err, c.name)
		require.Equal(t, c.want, res.Outcome, c.name)
		require.Equal(t, c.want == command.Updated, res.Ref.ID == id, c.name)
		require.Equal(t, "theirs", b.master(res.Ref.ID).Str("location"), c.name)
	}
}
