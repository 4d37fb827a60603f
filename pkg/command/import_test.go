package command_test

import (
	"context"
	"fmt"
	"slices"
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

func TestImport_keepsTheTimeAtWhichSomethingWasMade(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		created time.Time
		want    string
	}{
		{time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), "1900-01-01T00:00:00Z"},
		{time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC), "2025-12-01T12:00:00Z"},
		{time.Time{}, "2025-12-01T12:00:00Z"},
		{noon.Add(-time.Second), "2025-12-01T11:59:59Z"},
		{noon.Add(time.Hour), "2025-12-01T12:00:00Z"},
	} {
		b := setup(t)
		x := thing(product.Task(), fmt.Sprint(i), `{"title":"t","status":"COMPLETED"}`)
		x.CreatedAt, x.CompletedAt = c.created, c.created
		_, row := b.takes(command.Created, x)
		require.Equal(t, []string{c.want, c.want}, []string{row.Str("createdAt"), row.Str("completedAt")})
		open := thing(product.Task(), "open", `{"title":"t"}`)
		open.CompletedAt = noon.Add(-time.Hour)
		_, row = b.takes(command.Created, open)
		require.False(t, row.Has("completedAt"), "it is not done")
	}
}

func TestImport_datesADueInstantByTheImportThatSetsIt(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	_, row := b.takes(command.Created, thing(product.Task(), "a", `{"title":"t","dueUtc":"2025-12-24T12:00:00"}`))
	require.False(t, row.Has("dueSetAt"))
	id, row := b.takes(command.Created,
		thing(product.Task(), "b", `{"title":"t","dueUtc":"2025-12-24T12:00:00","reminderMinutes":[10]}`))
	require.Equal(t, "2025-12-01T12:00:00Z", row.Str("dueSetAt"))
	b.now = noon.Add(time.Hour)
	x := thing(product.Task(), "b", `{"title":"u","dueUtc":"2025-12-24T12:00:00","reminderMinutes":[10]}`)
	x.Sequence = 1
	same, row := b.takes(command.Updated, x)
	require.Equal(t, []string{id, "u", "2025-12-01T12:00:00Z"}, []string{same, row.Str("title"), row.Str("dueSetAt")})
	x = thing(product.Task(), "b", `{"title":"u","dueUtc":"2025-12-24T13:00:00","reminderMinutes":[10]}`)
	x.Sequence = 2
	_, row = b.takes(command.Updated, x)
	require.Equal(t, "2025-12-01T13:00:00Z", row.Str("dueSetAt"))
}

func TestImport_ofItemsMadeHereWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t","priority":2}`)
	before := b.stored(product.Task(), id)
	x := thing(product.Task(), id+"@nexus.app", `{"title":"t","priority":2,"status":"BACKLOG"}`)
	x.Fields["status"] = before["status"]
	x.Known = id
	_, row := b.takes(command.Unchanged, x)
	require.True(t, before.Equal(row))
	x.Sequence = 1
	_, row = b.takes(command.Updated, x)
	require.EqualValues(t, 1, row.Int("sequence"))
	x.Sequence = 0
	res := b.imports(x)[0]
	require.Equal(t, command.Refused, res.Outcome)
	require.ErrorIs(t, res.Err, command.ErrOutdated)
}

func TestImport_reachesAnItemThatKeepsChanging(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.takes(command.Created, thing(product.Event(), "a", `{`+standup+`}`))
	x := thing(product.Event(), "a", `{`+standup+`,"location":"theirs"}`)
	x.Sequence = 9
	meanwhile := 0
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before && meanwhile < 3 {
			meanwhile++
			fault := b.fault
			b.fault = nil
			b.must(command.Update{Type: product.Event(), ID: id, Patch: doc(fmt.Sprintf(`{"description":"%d"}`, meanwhile))},
				at(int64(meanwhile)))
			b.fault = fault
		}
		return nil
	}
	_, row := b.takes(command.Updated, x)
	require.Equal(t, []any{"theirs", int64(5)}, []any{row.Str("location"), row.Int("version")})
	require.Equal(t, []time.Duration{20 * time.Millisecond, 40 * time.Millisecond}, b.pauses, "short pauses come first")

	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			return table.ErrConflict
		}
		return nil
	}
	x.Sequence = 10
	_, err := b.service.Import(t.Context(), ann, []command.Imported{x})
	require.ErrorIs(t, err, table.ErrConflict)
	b.busy = func() error { return context.DeadlineExceeded }
	_, err = b.service.Import(t.Context(), ann, []command.Imported{x})
	require.ErrorIs(t, err, table.ErrConflict, "there is no time for another attempt")
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			return table.ErrThrottled
		}
		return nil
	}
	_, err = b.service.Import(t.Context(), ann, []command.Imported{thing(product.Event(), "new", `{`+standup+`}`)})
	require.ErrorIs(t, err, table.ErrThrottled)
	require.ErrorContains(t, err, "with 2 more rows")
}

func TestImport_reachesOneChangingItemAmongMany(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var things []command.Imported
	for i := range 30 {
		things = append(things, thing(product.Event(), fmt.Sprint(i), `{`+standup+`}`))
	}
	b.once("Transact", memory.Before, func() error {
		require.Equal(t, command.Created, b.imports(things[3])[0].Outcome)
		return nil
	})
	for i, res := range b.imports(things...) {
		want := command.Created
		if i == 3 {
			want = command.Unchanged
		}
		require.Equal(t, want, res.Outcome, i)
		require.NotNil(t, b.stored(product.Event(), res.Ref.ID))
	}
}

func TestImport_boundsTheLivesOfAUID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	x := thing(product.Event(), "a", `{`+standup+`}`)
	var rows []item.Item
	for k := range 199 {
		rows = append(rows, entity.GoneKey(ann, x.ID("evt", k)).Item())
	}
	require.NoError(t, b.store.Load(t.Context(), rows))
	id, _ := b.takes(command.Created, x)
	require.Equal(t, x.ID("evt", 199), id)
	b.must(command.Delete{Type: product.Event(), ID: id}, at(1))
	res := b.imports(x)[0]
	require.Equal(t, command.Refused, res.Outcome)
	require.ErrorIs(t, res.Err, command.ErrManyLives)
}

func TestImport_withoutSeriesTakesEvents(t *testing.T) {
	t.Parallel()
	b := setup(t) // whose registry has no series
	_, row := b.takes(command.Created, thing(product.Event(), "a", `{`+standup+`}`))
	require.Equal(t, "a", row.Str("icalUid"))
	x := thing(product.Event(), "a", `{`+standup+`,"location":"here"}`)
	x.Sequence = 1
	_, row = b.takes(command.Updated, x)
	require.Equal(t, "here", row.Str("location"))
}

func TestImport_refusesOnlyTheThingThatTheStoreRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	things := []command.Imported{
		thing(product.Event(), "a", `{`+standup+`}`), thing(product.Event(), "b", `{`+standup+`}`),
		thing(product.Event(), "c", `{`+standup+`}`),
	}
	bad := entity.ItemKey(ann, entity.Ref{Type: product.TypeEvent, ID: things[1].ID("evt", 0)})
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before && slices.Contains(c.Keys, bad) {
			return fmt.Errorf("put %s: %w", bad, table.ErrInvalid)
		}
		return nil
	}
	for _, want := range []command.Outcome{command.Created, command.Unchanged} {
		results := b.imports(things...)
		require.Equal(t, want, results[0].Outcome)
		require.Equal(t, command.Refused, results[1].Outcome)
		require.ErrorIs(t, results[1].Err, command.ErrUnstorable)
		require.EqualError(t, results[1].Err, "it cannot be stored", "the reason is shown, without keys")
		require.Equal(t, want, results[2].Outcome)
		require.NotNil(t, b.stored(product.Event(), results[2].Ref.ID))
	}
}
