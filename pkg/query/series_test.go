package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// standup is a series on Mondays at nine in New York, from 1 December 2025.
func (b *fixture) standup(user, more string) item.Item {
	return b.add(user, product.Master(),
		`{"title":"standup","location":"room 1","startUtc":"2025-12-01T14:00:00Z","endUtc":"2025-12-01T14:30:00Z",
		"startTzid":"America/New_York","rrule":"FREQ=WEEKLY;BYDAY=MO"`+more+`}`, nil)
}

// except stores an exception of the series with these fields of its own.
func (b *fixture) differ(user string, master item.Item, date, text string) item.Item {
	t := product.Instance()
	patch, errs := t.Parse(doc(text))
	require.Empty(b, errs)
	fields := item.Item{"masterId": master["masterId"], "recurrenceId": master["startUtc"]}
	for _, name := range product.SpanFields() {
		fields.Set(name, master[name])
	}
	var names item.List
	for _, f := range t.Fields {
		if v, ok := patch[f.Name]; ok {
			names = append(names, item.String(f.Name))
			fields[f.Name] = v
			if _, empty := v.(item.Null); empty {
				delete(fields, f.Name)
			}
		}
	}
	fields.Set("modifiedFields", names)
	it := t.NewItem(user, entity.InstanceID(master.Str("masterId"), date), fields, b.now, nil)
	require.Empty(b, t.Validate(it))
	b.put(it)
	return it
}

func TestEvent_answersAnIDOfAnyEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.add(ann, product.Event(), `{"title":"fair","startUtc":"2025-12-01T14:00:00Z","startTzid":"UTC"}`, nil)
	master := b.standup(ann, `,"exdate":["20251222"]`)
	id := master.Str("masterId")
	b.differ(ann, master, "20251208", `{"title":"standup, moved","startUtc":"2025-12-09T15:00:00Z",`+
		`"endUtc":"2025-12-09T15:15:00Z","startTzid":"America/New_York"}`)
	b.differ(ann, master, "20251209", `{"title":"no occurrence"}`)
	b.differ(ann, master, "20251215", `{}`)
	for _, c := range []struct{ id, typ, title, start, trips string }{
		{event.Str("eventId"), "EVENT", "fair", "2025-12-01T14:00:00Z", "Get"},
		{id, "MASTER", "standup", "2025-12-01T14:00:00Z", "Get"},
		{entity.InstanceID(id, "20251201"), "INSTANCE", "standup", "2025-12-01T14:00:00Z", "BatchGet"},
		{entity.InstanceID(id, "20251208"), "INSTANCE", "standup, moved", "2025-12-09T15:00:00Z", "BatchGet"},
		{entity.InstanceID(id, "20251215"), "INSTANCE", "standup", "2025-12-15T14:00:00Z", "BatchGet"}, // undone
	} {
		found, err := b.service.Event(ctx, ann, c.id)
		require.NoError(t, err, c.id)
		require.Equal(t, map[string]int{c.trips: 1}, b.trips())
		require.Equal(t, c.typ, found.Type.Name)
		require.Equal(t, []string{c.typ, c.title, c.start},
			[]string{found.Item.Str("entityType"), found.Item.Str("title"), found.Item.Str("startUtc")})
		require.Equal(t, c.id, found.Item.Str("eventId"))
		_, err = b.service.Event(ctx, bob, c.id)
		require.ErrorIs(t, err, query.ErrNotFound)
		b.trips()
	}
	for _, unknown := range []string{
		"", "evt_x", "mst_x", "inst_20251208_x", "inst_2025_x", "task_1", "inst_20251208_a#b", "evt_a#b", "event",
		entity.InstanceID(id, "20251209"), entity.InstanceID(id, "20251222"), entity.InstanceID(id, "20251124"),
		"inst_20251301_" + strings.TrimPrefix(id, "mst_"),
	} {
		_, err := b.service.Event(ctx, ann, unknown)
		require.ErrorIs(t, err, query.ErrNotFound, unknown)
	}
	_, err := b.service.Event(ctx, "a#b", id)
	require.ErrorIs(t, err, entity.ErrID)
	it, err := b.service.Get(ctx, ann, product.Instance(), entity.InstanceID(id, "20251208"))
	require.NoError(t, err)
	require.Equal(t, "room 1", it.Str("location"), "what it has of its series")
}

func TestSeries_comesWithTheExceptionsThatCount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	master := b.standup(ann, "")
	id := master.Str("masterId")
	other := b.standup(ann, "")
	b.differ(ann, other, "20251208", `{"title":"another's"}`)
	b.differ(ann, master, "20251215", `{"status":"CANCELLED"}`)
	b.differ(ann, master, "20251208", `{"title":"standup, long","description":null}`)
	b.differ(ann, master, "20251209", `{"title":"no occurrence"}`)
	b.differ(ann, master, "20251222", `{}`)
	got, err := b.service.Series(ctx, ann, id, "")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Get": 1, "Query": 1}, b.trips())
	require.True(t, master.Equal(got.Master))
	require.Len(t, got.Instances, 2)
	require.Empty(t, got.Next)
	require.Equal(t, []string{"standup, long", "2025-12-08T14:00:00Z", "2025-12-08T14:00:00Z"},
		[]string{got.Instances[0].Str("title"), got.Instances[0].Str("startUtc"), got.Instances[0].Str("recurrenceId")})
	require.Equal(t, []string{"standup", "CANCELLED", "20251215"},
		[]string{got.Instances[1].Str("title"), got.Instances[1].Str("status"), got.Instances[1].Str("eventId")[5:13]})
	for _, unknown := range []string{"mst_x", "a#b", "", "evt_1"} {
		_, err := b.service.Series(ctx, ann, unknown, "")
		require.ErrorIs(t, err, query.ErrNotFound)
	}
	_, err = b.service.Series(ctx, bob, id, "")
	require.ErrorIs(t, err, query.ErrNotFound)
}

func TestSeries_endsAPageOfLargeExceptionsAtAMegabyte(t *testing.T) {
	t.Parallel()
	b := setup(t)
	master := b.add(ann, product.Master(), fmt.Sprintf(
		`{"title":"standup","startUtc":"2025-12-01T14:00:00","rrule":"FREQ=DAILY","description":%q}`,
		strings.Repeat("a", 10<<10)), nil)
	id := master.Str("masterId")
	var want, got []string
	for i := range 250 {
		date := item.CompactDate(noon.AddDate(0, 0, i))
		b.differ(ann, master, date, `{"title":"`+date+`"}`)
		want = append(want, date)
	}
	for n, cursor := 1, ""; ; n++ {
		page, err := b.service.Series(ctx, ann, id, cursor)
		require.NoError(t, err)
		require.Equal(t, id, page.Master.Str("masterId"))
		for _, it := range page.Instances {
			got = append(got, it.Str("title"))
		}
		if cursor = page.Next; cursor == "" {
			require.Equal(t, 3, n)
			break
		}
	}
	require.Equal(t, want, got)
	page, err := b.service.Series(ctx, ann, id, "")
	require.NoError(t, err)
	other := b.standup(ann, "").Str("masterId")
	for _, q := range []struct{ user, id, cursor string }{
		{ann, other, page.Next}, {ann, id, page.Next[1:]}, {bob, id, page.Next}, {ann, id, "x"},
	} {
		_, err := b.service.Series(ctx, q.user, q.id, q.cursor)
		require.ErrorIs(t, err, query.ErrCursor)
	}
}

func TestSeries_showsTheLinksOfExceptionsThatCount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.add(ann, product.Note(), `{"title":"n"}`, nil)
	to := product.Note().Ref(note)
	links := `"links":[{"targetType":"NOTE","targetId":"` + to.ID + `"}]`
	master := b.standup(ann, ","+links)
	b.link(ann, product.Master().Ref(master), to)
	linked := func(master item.Item, date, text string) {
		b.link(ann, product.Instance().Ref(b.differ(ann, master, date, text)), to)
	}
	linked(master, "20251208", `{`+links+`}`)
	linked(master, "20251209", `{"title":"no occurrence",`+links+`}`)
	linked(master, "20251215", `{}`)
	linked(master, "20251222", `{"title":"has the series' links, an edge lags"}`)
	gone := master.Clone()
	gone["masterId"] = item.String("mst_gone")
	linked(gone, "20251208", `{"title":"without a series",`+links+`}`)
	page, err := b.service.Backlinks(ctx, ann, to, 0, "")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Query": 1, "Get": 1, "BatchGet": 2}, b.trips())
	var got []string
	for _, f := range page.Items {
		got = append(got, f.Type.Name+" "+f.Item.Str("title"))
	}
	require.Equal(t, []string{"INSTANCE standup", "MASTER standup"}, got)
}
