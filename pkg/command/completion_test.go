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
)

// in puts the user's settings with a zone.
func (b *fixture) in(zone string) {
	meta := product.NewUserMeta(ann, noon)
	meta[product.AttrDefaultTzid] = item.String(zone)
	require.NoError(b.t, b.store.Put(b.t.Context(), table.Put{Item: meta}))
}

// patch changes the task as its user sees it.
func (b *fixture) patch(id, text string) (item.Item, error) {
	key := entity.ItemKey(ann, entity.Ref{Type: product.TypeTask, ID: id})
	row, err := table.Find(b.t.Context(), b.store, key)
	require.NoError(b.t, err)
	version := row.Int(entity.AttrVersion)
	res, err := b.service.Do(b.t.Context(), command.Request{
		User: ann, ExpectedVersion: &version, Command: command.Update{Type: product.Task(), ID: id, Patch: doc(text)},
	})
	return res.Item, err
}

func (b *fixture) task(text string) (item.Item, error) {
	res, err := b.service.Do(b.t.Context(), command.Request{
		User: ann, Command: command.Create{Type: product.Task(), Fields: doc(text)},
	})
	return res.Item, err
}

// A completion has the date of its user's clock, also where that is not UTC's, and on the days of a clock change.
func TestUpdate_datesACompletionByItsUsersClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, want string }{
		{"UTC", "2025-12-01T23:59:59Z", "2025-12-01"}, {"UTC", "2025-12-02T00:00:00Z", "2025-12-02"},
		{"Pacific/Kiritimati", "2025-12-01T09:59:59Z", "2025-12-01"}, // 14 h ahead
		{"Pacific/Kiritimati", "2025-12-01T10:00:00Z", "2025-12-02"},
		{"Pacific/Pago_Pago", "2025-12-01T10:59:59Z", "2025-11-30"}, // 11 h behind
		{"Pacific/Pago_Pago", "2025-12-01T11:00:00Z", "2025-12-01"},
		{"Europe/London", "2025-03-29T23:59:59Z", "2025-03-29"}, // clocks go forward that night
		{"Europe/London", "2025-03-30T22:59:59Z", "2025-03-30"}, {"Europe/London", "2025-03-30T23:00:00Z", "2025-03-31"},
		{"Europe/London", "2025-10-25T23:00:00Z", "2025-10-26"}, // and back
		{"Europe/London", "2025-10-26T23:59:59Z", "2025-10-26"}, {"Europe/London", "2025-10-27T00:00:00Z", "2025-10-27"},
		{"Europe/London", "2025-12-31T23:59:59Z", "2025-12-31"}, {"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"},
	} {
		b := setup(t)
		b.in(c.zone)
		b.now, _ = item.ParseInstant(c.now)
		made, err := b.task(`{"title":"t","status":"COMPLETED"}`)
		require.NoError(t, err)
		require.Equal(t, c.want, made.Str(product.AttrCompletedOn), c)
		open, err := b.task(`{"title":"t"}`)
		require.NoError(t, err)
		require.False(t, open.Has(product.AttrCompletedOn))
		done, err := b.patch(open.Str("taskId"), `{"status":"COMPLETED"}`)
		require.NoError(t, err)
		require.Equal(t, c.want, done.Str(product.AttrCompletedOn), c)
		require.Equal(t, c.want, product.CompletedDay(done))
	}
}

// Who completes offline on Sunday has completed on Sunday. A move to another zone changes nothing.
func TestUpdate_takesTheDayOfACompletionThatItsClientGives(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.in("Asia/Tokyo") // it is 21:00 of 1 December
	it, err := b.task(`{"title":"t"}`)
	require.NoError(t, err)
	id := it.Str("taskId")
	it, err = b.patch(id, `{"status":"COMPLETED","completedOn":"2025-11-30"}`)
	require.NoError(t, err)
	require.Equal(t, "2025-11-30", product.CompletedDay(it))
	b.in("Pacific/Pago_Pago")
	b.now = b.now.Add(24 * time.Hour)
	for _, text := range []string{`{"title":"u"}`, `{"status":"ARCHIVED"}`, `{"priority":1}`} {
		it, err = b.patch(id, text)
		require.NoError(t, err)
		require.Equal(t, "2025-11-30", product.CompletedDay(it), text)
	}
	it, err = b.patch(id, `{"completedOn":"2025-11-29"}`)
	require.NoError(t, err)
	require.Equal(t, "2025-11-29", product.CompletedDay(it), "corrected")
	it, err = b.patch(id, `{"completedOn":null}`)
	require.NoError(t, err)
	require.Equal(t, "2025-12-01", product.CompletedDay(it), "the day of completedAt, on the present clock")
	it, err = b.patch(id, `{"status":"BACKLOG"}`)
	require.NoError(t, err)
	require.False(t, it.Has(product.AttrCompletedOn))
	require.Empty(t, product.CompletedDay(it))
	it, err = b.patch(id, `{"status":"COMPLETED"}`)
	require.NoError(t, err)
	require.Equal(t, "2025-12-02", product.CompletedDay(it), "01:00 in Pago Pago of that day")
	_, err = b.patch(id, `{"status":"ARCHIVED"}`)
	require.NoError(t, err)
	b.now = b.now.Add(24 * time.Hour)
	it, err = b.patch(id, `{"status":"COMPLETED"}`)
	require.NoError(t, err)
	require.Equal(t, "2025-12-03", product.CompletedDay(it), "a new completion")
}

func TestUpdate_refusesADayOfCompletionThatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.in("Asia/Tokyo") // it is 21:00 of 1 December
	open, err := b.task(`{"title":"t"}`)
	require.NoError(t, err)
	done, err := b.task(`{"title":"t","status":"COMPLETED"}`)
	require.NoError(t, err)
	for text, want := range map[string]string{
		`{"status":"COMPLETED","completedOn":"2025-12-02"}`: "must not be in the future: today is 2025-12-01",
		`{"status":"COMPLETED","completedOn":"2025-10-30"}`: "must be at most 31 days back",
		`{"status":"COMPLETED","completedOn":"2025-02-30"}`: "",
		`{"status":"COMPLETED","completedOn":"today"}`:      "must be a date YYYY-MM-DD",
		`{"status":"COMPLETED","completedOn":7}`:            "",
		`{"completedOn":"2025-12-01"}`:                      "is not allowed: only a completed task has it",
		`{"status":"ARCHIVED","completedOn":"2025-12-01"}`:  "is not allowed: only a completed task has it",
	} {
		_, err := b.patch(open.Str("taskId"), text)
		refusedDay(t, err, want, text)
		_, err = b.task(`{"title":"t",` + text[1:])
		refusedDay(t, err, want, text)
	}
	for text, want := range map[string]string{
		`{"completedOn":"2025-12-02"}`:                    "must not be in the future: today is 2025-12-01",
		`{"completedOn":"2025-10-30"}`:                    "must be at most 31 days back",
		`{"status":"BACKLOG","completedOn":"2025-11-30"}`: "is not allowed: only a completed task has it",
	} {
		_, err := b.patch(done.Str("taskId"), text)
		refusedDay(t, err, want, text)
	}
	for _, day := range []string{"2025-12-01", "2025-10-31"} {
		it, err := b.task(fmt.Sprintf(`{"title":"t","status":"COMPLETED","completedOn":%q}`, day))
		require.NoError(t, err)
		require.Equal(t, day, product.CompletedDay(it))
	}
	b.now = b.now.AddDate(1, 0, 0) // what was given in time stays
	_, err = b.patch(done.Str("taskId"), `{"title":"a year later","completedOn":"2025-12-01"}`)
	require.NoError(t, err)
}

func refusedDay(t *testing.T, err error, want, about string) {
	t.Helper()
	var invalid *entity.ValidationError
	require.ErrorAs(t, err, &invalid, about)
	require.Len(t, invalid.Fields, 1, about)
	require.Equal(t, "/completedOn", invalid.Fields[0].Pointer, about)
	if want != "" {
		require.Equal(t, want, invalid.Fields[0].Detail, about)
	}
}

// A release before knows no completedOn, and leaves it as it is. The day
// counts only for the completion to which it belongs.
func TestUpdate_keepsNoDayOfACompletionThatAReleaseBeforeTookBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	it, err := b.task(`{"title":"t","status":"COMPLETED","completedOn":"2025-11-20"}`)
	require.NoError(t, err)
	id, key := it.Str("taskId"), it.Key()
	asBefore := func(status, completedAt string) item.Item {
		row, err := table.Find(t.Context(), b.store, key)
		require.NoError(t, err)
		row = row.Clone()
		row[entity.AttrStatus] = item.String(status)
		row.Set(product.AttrCompletedAt, nil)
		if completedAt != "" {
			row[product.AttrCompletedAt] = item.String(completedAt)
		}
		row[entity.AttrVersion] = item.Int(row.Int(entity.AttrVersion) + 1)
		require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row}))
		seen, _ := product.Task().VisibleAt(row, b.now)
		return seen
	}
	reopened := asBefore(product.StatusBacklog, "")
	require.False(t, reopened.Has(product.AttrCompletedOn), "it shows nothing of it")
	it, err = b.patch(id, `{"title":"still open"}`)
	require.NoError(t, err)
	require.False(t, it.Has(product.AttrCompletedOn))

	_, err = b.patch(id, `{"status":"COMPLETED","completedOn":"2025-11-21"}`)
	require.NoError(t, err)
	asBefore(product.StatusBacklog, "")
	again := asBefore(product.StatusCompleted, "2025-11-30T23:30:00Z")
	require.False(t, again.Has(product.AttrCompletedOn))
	require.Equal(t, "2025-11-30", product.CompletedDay(again), "the UTC date of completedAt")
	it, err = b.patch(id, `{"title":"later"}`)
	require.NoError(t, err)
	require.Equal(t, "2025-11-30", product.CompletedDay(it))
	it, err = b.patch(id, `{"completedOn":"2025-11-29"}`)
	require.NoError(t, err)
	require.Equal(t, "2025-11-29", product.CompletedDay(it))
}
