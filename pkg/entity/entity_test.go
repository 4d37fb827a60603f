package entity_test

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
	it := typ.First("ann", typ.IDPrefix+"_1", merged, noon, entity.NewUserMeta("ann", noon).Map(entity.AttrPreferences))
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
	it := typ.Next(entity.ByUser, "ann", before, merged, noon, entity.NewUserMeta("ann", noon).Map(entity.AttrPreferences))
	var invalid *entity.ValidationError
	if errors.As(entity.Invalid(errs, more, typ.Validate(it)), &invalid) {
		return it, invalid.Fields
	}
	return it, nil
}

func TestATaskIsCreatedWithDefaultsKeysAndIndexKeys(t *testing.T) {
	it, errs := create(t, entity.Task(), `{"title":"Write","dueUtc":"2025-12-31T23:00:00.9-05:00","dueTzid":"America/New_York","tags":["b","a","b"],"color":"amber"}`)
	require.Empty(t, errs)
	require.Equal(t, item.Item{
		"PK": item.String("USER#ann"), "SK": item.String("TASK#task_1"),
		"GSI1PK": item.String("USER#ann#2026"), "GSI1SK": item.String("2026-01-01T04:00:00Z"),
		"GSI3PK": item.String("USER#ann"), "GSI3SK": item.String("TASK#BACKLOG#P3#2025-12-01T12:00:00Z"),
		"entityType": item.String("TASK"), "taskId": item.String("task_1"), "version": item.Int(1),
		"createdAt": item.String("2025-12-01T12:00:00Z"), "updatedAt": item.String("2025-12-01T12:00:00Z"),
		"title": item.String("Write"), "status": item.String("BACKLOG"), "priority": item.Int(3), "isAllDay": item.Bool(false),
		"dueUtc": item.String("2026-01-01T04:00:00Z"), "dueTzid": item.String("America/New_York"),
		"tags": item.StringSet{"a", "b"}, "color": item.String("#f59e0b"),
	}, it)
	require.JSONEq(t, `{"entityType":"TASK","taskId":"task_1","title":"Write","status":"BACKLOG","priority":3,"isAllDay":false,
		"dueUtc":"2026-01-01T04:00:00Z","dueTzid":"America/New_York","tags":["a","b"],"color":"#f59e0b","version":1,
		"createdAt":"2025-12-01T12:00:00Z","updatedAt":"2025-12-01T12:00:00Z"}`, string(entity.Task().AppendJSON(nil, it)))
}

func TestEveryBrokenFieldIsNamedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		typ      *entity.Type
		doc      string
		pointers []string
	}{
		"wrong types":       {entity.Task(), `{"title":7,"priority":"high","tags":"a","isAllDay":1,"links":{}}`, []string{"/title", "/isAllDay", "/priority", "/tags", "/links"}},
		"unknown and ours":  {entity.Note(), `{"title":"n","version":3,"ttl":1,"PK":"x","colour":"red"}`, []string{"/version", "/ttl", "/PK", "/colour"}},
		"bounds":            {entity.Task(), `{"title":"","priority":6,"status":"DONE","color":"puce"}`, []string{"/color", "/title", "/status", "/priority"}},
		"floating offset":   {entity.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00Z"}`, []string{"/startUtc"}},
		"zoned no offset":   {entity.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","startTzid":"Europe/London"}`, []string{"/startUtc"}},
		"all-day with time": {entity.Event(), `{"title":"e","isAllDay":true,"startUtc":"2025-01-01T07:00:00"}`, []string{"/startDate", "/startUtc"}},
		"end before start":  {entity.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","endUtc":"2025-01-01T06:00:00"}`, []string{"/endUtc"}},
		"zones":             {entity.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00Z","startTzid":"EST","endTzid":"Local"}`, []string{"/startTzid", "/endTzid"}},
		"years":             {entity.Event(), `{"title":"e","startUtc":"1899-12-31T23:59:59"}`, []string{"/startUtc"}},
		"links":             {entity.Note(), `{"title":"n","links":[{"targetType":"TASK","targetId":"task_1"},{"targetType":"TASK","targetId":"task_1"},{"targetType":"NOTE","targetId":"note_1"},{"x":1}]}`, []string{"/links/3/x", "/links/3/targetType", "/links/3/targetId", "/links/1", "/links/2"}},
		"minutes":           {entity.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","reminderMinutes":[-1,5]}`, []string{"/reminderMinutes"}},
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

func TestAFloatingTimeIsStoredWithZAndShownWithout(t *testing.T) {
	it, errs := create(t, entity.Event(), `{"title":"e","startUtc":"2025-01-01T07:00:00","endUtc":"2025-01-02T08:00:00"}`)
	require.Empty(t, errs)
	require.Equal(t, "2025-01-01T07:00:00Z", it.Str("startUtc"))
	require.Equal(t, "EVENT#LONG#2025-01-02T08:00:00Z", it.Str("GSI3SK"))
	require.Contains(t, string(entity.Event().AppendJSON(nil, it)), `"startUtc":"2025-01-01T07:00:00"`)
}

func TestAPatchThatChangesFloatingNeedsTheTimesAgain(t *testing.T) {
	typ := entity.Event()
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

func TestCompletingATaskSetsItsTimesAndReopeningRemovesThem(t *testing.T) {
	typ := entity.Task()
	prefs := entity.NewUserMeta("ann", noon).Map(entity.AttrPreferences)
	open, _ := create(t, typ, `{"title":"t","dueUtc":"2025-12-02T00:00:00"}`)
	done := open.Clone()
	done["status"] = item.String("COMPLETED")
	done = typ.Next(entity.ByUser, "ann", open, done, noon, prefs)
	require.Equal(t, "2025-12-02T12:00:00Z", done.Str("archiveAt"))
	require.Equal(t, int64(2), done.Int("version"))

	seen, ok := typ.Seen(done, noon.Add(24*time.Hour))
	require.True(t, ok)
	require.Equal(t, "ARCHIVED", seen.Str("status"))

	again := done.Clone()
	again["status"] = item.String("BACKLOG")
	again = typ.Next(entity.ByUser, "ann", done, again, noon, prefs)
	require.False(t, again.Has("archiveAt") || again.Has("completedAt"))
	require.Equal(t, "USER#ann#2025", again.Str("GSI1PK"))

	archived := done.Clone()
	archived["status"] = item.String("ARCHIVED")
	archived = typ.Next(entity.ByUser, "ann", done, archived, noon, prefs)
	require.False(t, archived.Has("GSI1PK"))
	require.Equal(t, "TASK#ARCHIVED#P3#2025-12-01T12:00:00Z", archived.Str("GSI3SK"))
}

func TestTheRegistryRefusesATypeOutsideTheConventions(t *testing.T) {
	good := entity.Note()
	for name, spoil := range map[string]func(*entity.Type){
		"lower-case name":     func(t *entity.Type) { t.Name = "note" },
		"a row's prefix":      func(t *entity.Type) { t.Name = entity.RowLedger },
		"attribute in snakes": func(t *entity.Type) { t.Fields = append(t.Fields, entity.Field{Name: "is_pinned"}) },
		"attribute twice":     func(t *entity.Type) { t.Fields = append(t.Fields, entity.Field{Name: "title"}) },
		"no version":          func(t *entity.Type) { t.Fields = t.Fields[:len(t.Fields)-4] },
		"upper-case prefix":   func(t *entity.Type) { t.IDPrefix = "Note" },
	} {
		typ := *good
		typ.Fields = append([]entity.Field{}, good.Fields...)
		spoil(&typ)
		_, err := entity.NewRegistry(&typ)
		require.Error(t, err, name)
	}
	_, err := entity.NewRegistry(good, entity.Note())
	require.ErrorContains(t, err, "taken")
	require.NotNil(t, entity.Product().OfID("rem_1"))
}

func FuzzSortKey(f *testing.F) {
	for _, sk := range []string{"TASK#task_1", "LINK#TASK#task_1#NOTE#note_1", "TIMER#ARCHIVE#task_1#3", "INSTANCE#mst_a_b#20251224", "INSTANCE#0#00000101", "USER_META#ann", "LEDGER#stats#evt_1",
		"FIRED#rem_1#0#2025-01-01T00:00:00Z#2025-01-01T00:00:00Z", "#", "TASK##", "RECEIPT#ab"} {
		f.Add(sk)
	}
	f.Fuzz(func(t *testing.T, sk string) {
		key, err := entity.ParseSortKey(sk)
		if err != nil {
			return
		}
		require.Equal(t, sk, key.String())
		again, err := entity.ParseSortKey(key.String())
		require.NoError(t, err)
		require.Equal(t, key, again)
		if !key.IsRow() {
			require.Equal(t, sk, entity.ItemKey("u", key.Ref()).SK)
		}
		if timer, err := entity.ParseTimer(sk); err == nil && entity.CheckUserID("u") == nil {
			require.Equal(t, sk, entity.TimerKey("u", timer.TaskID, timer.Version).SK)
		}
		if source, target, err := entity.ParseLink(sk); err == nil {
			require.Equal(t, sk, entity.LinkKey("u", source, target).SK)
		}
	})
}

func TestNoKeyComponentHoldsTheSeparator(t *testing.T) {
	for _, id := range []string{"", "a#2025", "a b", "ä", strings.Repeat("a", 65), "a/b"} {
		require.ErrorIs(t, entity.CheckUserID(id), entity.ErrID, "%q", id)
		_, err := entity.ParseUserPK("USER#" + id)
		require.Error(t, err)
	}
	for _, id := range []string{"task_", "task_a#b", "note_a", "task", "task_" + strings.Repeat("a", 51)} {
		require.ErrorIs(t, entity.CheckID("task", id), entity.ErrID, "%q", id)
	}
	require.NoError(t, entity.CheckID("task", "task_A-z_9"))
	require.Error(t, entity.CheckClientID("task", "task_A-z_9"))
	require.NoError(t, entity.CheckClientID("task", "task_6b0a8f5e-1f5e-4f3a-9e0e-0a1b2c3d4e5f"))
	require.Panics(t, func() { entity.UserPK("a#2025") })
}

func TestWhatIsReportedOfADocumentIsBounded(t *testing.T) {
	t.Parallel()
	doc := map[string]any{}
	for i := range 200_000 {
		doc[fmt.Sprintf("a%06d", i)] = nil
	}
	_, errs := entity.Note().Parse(doc)
	var invalid *entity.ValidationError
	require.ErrorAs(t, entity.Invalid(errs, errs), &invalid)
	require.Less(t, len(invalid.Fields), 1000)
	require.Equal(t, "/a000000", invalid.Fields[0].Pointer)

	_, errs = entity.Note().Parse(map[string]any{"title": "n", strings.Repeat("~", 1<<20): true})
	require.Len(t, errs, 1)
	require.Less(t, len(errs[0].Pointer)+len(errs[0].Detail), 200)
}

func TestANewTriggerEndsARestoredRemindersRest(t *testing.T) {
	t.Parallel()
	typ := entity.Reminder()
	it, errs := create(t, typ, `{"title":"r","triggerUtc":"2025-12-02T00:00:00"}`)
	require.Empty(t, errs)
	it["status"], it["restoredAt"] = item.String("COMPLETED"), item.String("2025-12-01T12:00:00Z")
	renamed := it.Clone()
	renamed["title"] = item.String("s")
	require.True(t, typ.Next(entity.ByUser, "ann", it, renamed, noon, nil).Has("restoredAt"))

	moved := it.Clone()
	moved["triggerUtc"] = item.String("2025-12-03T00:00:00Z")
	moved = typ.Next(entity.ByUser, "ann", it, moved, noon, nil)
	require.Equal(t, "PENDING", moved.Str("status"))
	require.False(t, moved.Has("restoredAt"), "its status has changed")
}

func TestTheKeyOfWhatIsKeptHasThatOfItsItem(t *testing.T) {
	t.Parallel()
	const id = "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11"
	for _, ref := range []entity.Ref{
		{Type: entity.TypeEvent, ID: "evt_" + id}, {Type: entity.TypeMaster, ID: "mst_" + id}, {Type: entity.TypeInstance, ID: "inst_20260101_" + id},
	} {
		key := entity.KeptKey(entity.ItemKey("ann", ref))
		parsed, err := entity.ParseSortKey(key.SK)
		require.NoError(t, err)
		require.True(t, parsed.IsRow())
		require.Equal(t, key.SK, parsed.String())
		of, err := entity.ParseKept(key.SK)
		require.NoError(t, err)
		require.Equal(t, ref, of)
	}
	for _, sk := range []string{"KEPT", "KEPT#EVENT", "KEPT#COLD#evt_" + id, "KEPT#INSTANCE#mst_" + id, "KEPT#KEPT#EVENT#evt_" + id} {
		_, err := entity.ParseSortKey(sk)
		require.Error(t, err, sk)
		_, err = entity.ParseKept(sk)
		require.Error(t, err, sk)
	}
	_, err := entity.ParseKept("EVENT#evt_" + id)
	require.Error(t, err, "the key of an item")
}
