package product_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	doc := map[string]any{}
	require.NoError(t, d.Decode(&doc))
	return doc
}

// create runs a document through the steps of a creation and returns the item, or what was wrong.
func create(t *testing.T, typ *entity.Type, text string) (item.Item, []entity.FieldError) {
	t.Helper()
	patch, errs := typ.Parse(decode(t, text))
	merged, more := typ.Merge(nil, patch)
	preferences := product.NewUserMeta("ann", noon).Map(product.AttrPreferences)
	it := typ.NewItem("ann", typ.IDPrefix+"_1", merged, noon, preferences)
	var invalid *entity.ValidationError
	if errors.As(entity.Invalid(errs, more, typ.Validate(it)), &invalid) {
		return it, invalid.Fields
	}
	return it, nil
}

// change runs a document through the steps of a change.
func change(t *testing.T, typ *entity.Type, before item.Item, text string) (item.Item, []entity.FieldError) {
	t.Helper()
	patch, errs := typ.Parse(decode(t, text))
	merged, more := typ.Merge(before, patch)
	it := typ.NextVersion(entity.ByUser, "ann", before, merged, noon,
		product.NewUserMeta("ann", noon).Map(product.AttrPreferences))
	var invalid *entity.ValidationError
	if errors.As(entity.Invalid(errs, more, typ.Validate(it)), &invalid) {
		return it, invalid.Fields
	}
	return it, nil
}

func TestTask_isCreatedWithDefaultsKeysAndIndexKeys(t *testing.T) {
	it, errs := create(t, product.Task(), `{"title":"Write","dueUtc":"2025-12-31T23:00:00.9-05:00",`+
		`"dueTzid":"America/New_York","tags":["b","a","b"],"color":"amber"}`)
	require.Empty(t, errs)
	require.Equal(t, item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("TASK#task_1"),
		"GSI1PK": item.String("USER#ann#2026"), "GSI1SK": item.String("2026-01-01T04:00:00Z"),
		"GSI3PK": item.String("USER#ann"), "GSI3SK": item.String("TASK#BACKLOG#P3#2025-12-01T12:00:00Z"),
		"entityType": item.String("TASK"), "taskId": item.String("task_1"), "version": item.Int(1),
		"createdAt": item.String("2025-12-01T12:00:00Z"), "updatedAt": item.String("2025-12-01T12:00:00Z"),
		"title": item.String("Write"), "status": item.String("BACKLOG"), "priority": item.Int(3),
		"isAllDay": item.Bool(false),
		"dueUtc":   item.String("2026-01-01T04:00:00Z"), "dueTzid": item.String("America/New_York"),
		"tags": item.StringSet{"a", "b"}, "color": item.String("#f59e0b"),
	}, it)
	require.JSONEq(t,
		`{"entityType":"TASK","taskId":"task_1","title":"Write","status":"BACKLOG","priority":3,"isAllDay":false,
		"dueUtc":"2026-01-01T04:00:00Z","dueTzid":"America/New_York","tags":["a","b"],"color":"#f59e0b","version":1,
		"createdAt":"2025-12-01T12:00:00Z","updatedAt":"2025-12-01T12:00:00Z"}`, string(product.Task().AppendJSON(nil, it)))
}

func TestProduct_namesEveryWrongFieldAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		typ      *entity.Type
		doc      string
		pointers []string
	}{
		"wrong types": {product.Task(), `{"title":7,"priority":"high","tags":"a","isAllDay":1,"links":{}}`,
			[]string{"/title", "/isAllDay", "/priority", "/tags", "/links"}},
		"unknown and ours": {product.Note(), `{"title":"n","version":3,"ttl":1,"PK":"x","colour":"red"}`,
			[]string{"/version", "/ttl", "/PK", "/colour"}},
		"bounds": {product.Task(), `{"title":"","priority":6,"status":"DONE","color":"puce"}`,
			[]string{"/color", "/title", "/status", "/priority"}},
		"floating offset": {product.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00Z"}`, []string{"/startUtc"}},
		"zoned no offset": {product.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","startTzid":"Europe/London"}`,
			[]string{"/startUtc"}},
		"all-day with time": {product.Event(), `{"title":"e","isAllDay":true,"startUtc":"2025-01-01T07:00:00"}`,
			[]string{"/startDate", "/startUtc"}},
		"end before start": {product.Event(),
			`{"title":"e","startUtc":"2025-01-01T07:00:00","endUtc":"2025-01-01T06:00:00"}`, []string{"/endUtc"}},
		"zones": {product.Event(),
			`{"title":"e","startUtc":"2025-01-01T07:00:00Z","startTzid":"EST","endTzid":"Local"}`,
			[]string{"/startTzid", "/endTzid"}},
		"years": {product.Event(), `{"title":"e","startUtc":"1899-12-31T23:59:59"}`, []string{"/startUtc"}},
		"links": {product.Note(), `{"title":"n","links":[{"targetType":"TASK","targetId":"task_1"},` +
			`{"targetType":"TASK","targetId":"task_1"},{"targetType":"NOTE","targetId":"note_1"},{"x":1}]}`,
			[]string{"/links/3/x", "/links/3/targetType", "/links/3/targetId", "/links/1", "/links/2"}},
		"minutes": {product.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","reminderMinutes":[-1,5]}`,
			[]string{"/reminderMinutes"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := create(t, c.typ, c.doc)
			var pointers []string
			for _, e := range errs {
				pointers = append(pointers, e.Pointer)
			}
			require.ElementsMatch(t, c.pointers, pointers, "%v", errs)
		})
	}
}

func TestEvent_storesAFloatingTimeWithZAndShowsItWithout(t *testing.T) {
	it, errs := create(t, product.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","endUtc":"2025-01-02T08:00:00"}`)
	require.Empty(t, errs)
	require.Equal(t, "2025-01-01T07:00:00Z", it.Str("startUtc"))
	require.Equal(t, "EVENT#LONG#2025-01-02T08:00:00Z", it.Str("GSI3SK"))
	require.Contains(t, string(product.Event().AppendJSON(nil, it)), `"startUtc":"2025-01-01T07:00:00"`)
}

func TestEvent_needsItsTimesAgainWhenFloatingChanges(t *testing.T) {
	typ := product.Event()
	it, _ := create(t, typ, `{"title":"e","startUtc":"2025-01-01T07:00:00"}`)
	patch, errs := typ.Parse(decode(t, `{"startTzid":"Europe/London"}`))
	require.Empty(t, errs)
	_, errs = typ.Merge(it, patch)
	require.Equal(t, "/startUtc", errs[0].Pointer)

	patch, _ = typ.Parse(decode(t, `{"startTzid":"Europe/London","startUtc":"2025-01-01T07:00:00+01:00"}`))
	after, errs := typ.Merge(it, patch)
	require.Empty(t, errs)
	require.Equal(t, "2025-01-01T06:00:00Z", after.Str("startUtc"))
}

func TestTask_setsItsTimesWhenDoneAndRemovesThemWhenReopened(t *testing.T) {
	typ := product.Task()
	prefs := product.NewUserMeta("ann", noon).Map(product.AttrPreferences)
	open, _ := create(t, typ, `{"title":"t","dueUtc":"2025-12-02T00:00:00"}`)
	done := open.Clone()
	done["status"] = item.String("COMPLETED")
	done = typ.NextVersion(entity.ByUser, "ann", open, done, noon, prefs)
	require.Equal(t, "2025-12-02T12:00:00Z", done.Str("archiveAt"))
	require.Equal(t, int64(2), done.Int("version"))

	seen, ok := typ.VisibleAt(done, noon.Add(24*time.Hour))
	require.True(t, ok)
	require.Equal(t, "ARCHIVED", seen.Str("status"))

	again := done.Clone()
	again["status"] = item.String("BACKLOG")
	again = typ.NextVersion(entity.ByUser, "ann", done, again, noon, prefs)
	require.False(t, again.Has("archiveAt") || again.Has("completedAt"))
	require.Equal(t, "USER#ann#2025", again.Str("GSI1PK"))

	archived := done.Clone()
	archived["status"] = item.String("ARCHIVED")
	archived = typ.NextVersion(entity.ByUser, "ann", done, archived, noon, prefs)
	require.False(t, archived.Has("GSI1PK"))
	require.Equal(t, "TASK#ARCHIVED#P3#2025-12-01T12:00:00Z", archived.Str("GSI3SK"))
}

func TestProduct_boundsWhatItReportsOfADocument(t *testing.T) {
	t.Parallel()
	doc := map[string]any{}
	for i := range 200_000 {
		doc[fmt.Sprintf("a%06d", i)] = nil
	}
	_, errs := product.Note().Parse(doc)
	var invalid *entity.ValidationError
	require.ErrorAs(t, entity.Invalid(errs, errs), &invalid)
	require.Less(t, len(invalid.Fields), 1000)
	require.Equal(t, "/a000000", invalid.Fields[0].Pointer)

	_, errs = product.Note().Parse(map[string]any{"title": "n", strings.Repeat("~", 1<<20): true})
	require.Len(t, errs, 1)
	require.Less(t, len(errs[0].Pointer)+len(errs[0].Detail), 200)
}

func TestReminder_losesRestoredAtWhenItsTriggerMoves(t *testing.T) {
	t.Parallel()
	typ := product.Reminder()
	it, errs := create(t, typ, `{"title":"r","triggerUtc":"2025-12-02T00:00:00"}`)
	require.Empty(t, errs)
	it["status"], it["restoredAt"] = item.String("COMPLETED"), item.String("2025-12-01T12:00:00Z")
	renamed := it.Clone()
	renamed["title"] = item.String("s")
	require.True(t, typ.NextVersion(entity.ByUser, "ann", it, renamed, noon, nil).Has("restoredAt"))

	moved := it.Clone()
	moved["triggerUtc"] = item.String("2025-12-03T00:00:00Z")
	moved = typ.NextVersion(entity.ByUser, "ann", it, moved, noon, nil)
	require.Equal(t, "PENDING", moved.Str("status"))
	require.False(t, moved.Has("restoredAt"), "its status has changed")
}

func TestRevision_countsChangesOfAUserAlone(t *testing.T) {
	for typ, c := range map[*entity.Type]struct {
		text   string
		change func(it item.Item) // by the system
		user   string
	}{
		product.Reminder(): {
			`{"title":"r","triggerUtc":"2025-12-01T11:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`,
			func(it item.Item) { it["triggerUtc"] = item.String("2025-12-02T11:00:00Z") }, `{"title":"s"}`,
		},
		product.Task(): {
			`{"title":"t","status":"COMPLETED"}`,
			func(it item.Item) { it["status"] = item.String("ARCHIVED") }, `{"status":"BACKLOG"}`,
		},
	} {
		for _, imported := range []bool{true, false} {
			it, errs := create(t, typ, c.text)
			require.Empty(t, errs)
			if imported {
				it["sequence"] = item.Int(0)
				product.SetStamp(it, noon)
			}
			after := it.Clone()
			c.change(after)
			after = typ.NextVersion(entity.BySystem, "ann", it, after, noon, nil)
			require.Zero(t, product.Revision(after), typ.Name)
			require.Equal(t, imported, after.Has(product.AttrStamp))
			mine, errs := change(t, typ, after, c.user)
			require.Empty(t, errs)
			require.Positive(t, product.Revision(mine))
			require.False(t, mine.Has(product.AttrStamp))
		}
	}
}
