package tabletest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

// TestLaw_isBrokenByAWrongEntityOnEachRule spoils a good row in one way at a time.
func TestLaw_isBrokenByAWrongEntityOnEachRule(t *testing.T) {
	t.Parallel()
	typ := product.Task()
	good := typ.NewItem("ann", "task_1", mustMerge(t, typ, map[string]any{"title": "x", "dueUtc": "2025-06-02T00:00:00"}),
		time.Unix(1750000000, 0), nil)
	require.Empty(t, tabletest.CheckRow(typ, good))
	for rule, spoil := range map[string]func(item.Item){
		"USER#":        func(it item.Item) { it["PK"] = item.String("ann") },
		"upper case":   func(it item.Item) { it["entityType"] = item.String("task") },
		"want \"TASK#": func(it item.Item) { it["SK"] = item.String("TASKS#task_1") },
		"want the prefix": func(it item.Item) {
			it["taskId"], it["SK"] = item.String("note_1"), item.String("TASK#note_1")
		},
		"is not camelCase":    func(it item.Item) { it["Due_Utc"] = item.String("x") },
		"empty and yet there": func(it item.Item) { it["tags"] = item.StringSet{} },
		"is not UPPERCASE":    func(it item.Item) { it["status"] = item.String("Backlog") },
		"version is":          func(it item.Item) { it["version"] = item.String("1") },
		"updatedAt is":        func(it item.Item) { delete(it, "updatedAt") },
		"GSI1 keys":           func(it item.Item) { it["GSI1PK"] = item.String("USER#ann#2025-06") },
		"an instant of that":  func(it item.Item) { it["GSI1SK"] = item.String("2024-06-02T00:00:00Z") },
		"GSI3 keys":           func(it item.Item) { it["GSI3PK"] = item.String("USER#ann#STATUS#BACKLOG") },
		"TYPE#STATE":          func(it item.Item) { it["GSI3SK"] = item.String("P3#2025") },
		"must come together":  func(it item.Item) { delete(it, "GSI1SK") },
		"editVersion is 0":    func(it item.Item) { it["editVersion"] = item.Int(0) },
		"editVersion is 1":    func(it item.Item) { it["editVersion"] = item.Int(1) },
		"GSI4 keys belong":    func(it item.Item) { it["GSI4PK"] = item.String("LINKED#u1#TASK#task_2") },
		"/title is required":  func(it item.Item) { delete(it, "title") },
	} {
		row := good.Clone()
		spoil(row)
		require.Contains(t, strings.Join(tabletest.CheckRow(typ, row), "\n"), rule)
	}
}

// TestLaw_isBrokenByAWrongCallOnEachRule makes the calls that no code of ours may make.
func TestLaw_isBrokenByAWrongCallOnEachRule(t *testing.T) {
	t.Parallel()
	typ := product.Task()
	good := typ.NewItem("ann", "task_1", mustMerge(t, typ, map[string]any{"title": "x"}), time.Unix(1750000000, 0), nil)
	next := typ.NextVersion(entity.ByUser, "ann", good, good, time.Unix(1750000001, 0), nil)
	archived := good.Clone()
	archived["status"] = item.String("ARCHIVED")
	archived = typ.NextVersion(entity.BySystem, "ann", good, archived, time.Unix(1750000001, 0), nil)
	renamed, back, begun := archived.Clone(), archived.Clone(), archived.Clone()
	renamed["title"] = item.String("y")
	back["version"], back["editVersion"] = item.Int(3), item.Int(1)
	begun["version"], begun["taskId"], begun["SK"] = item.Int(2), item.String("task_2"), item.String("TASK#task_2")
	change := func(s table.Store, before, after item.Item) error {
		_, err := s.Update(t.Context(), table.Diff(before, after, table.AtVersion(before.Int("version"))))
		return err
	}
	jump := next.Clone()
	jump["version"] = item.Int(9)
	meta := product.NewUserMeta("ann", time.Unix(1750000000, 0))
	for rule, call := range map[string]func(table.Store) error{
		"another condition": func(s table.Store) error { return s.Put(t.Context(), table.Put{Item: good}) },
		"deleted without":   func(s table.Store) error { return s.Delete(t.Context(), table.Delete{Key: good.Key()}) },
		"version = :expected": func(s table.Store) error {
			return s.Transact(t.Context(), table.Diff(good, next, table.Exists()))
		},
		"adds 8 to version": func(s table.Store) error {
			_, err := s.Update(t.Context(), table.Diff(good, jump, table.AtVersion(1)))
			return err
		},
		"title changes and editVersion stays": func(s table.Store) error { return change(s, good, renamed) },
		"editVersion becomes 1 at version 2": func(s table.Store) error {
			if err := change(s, good, next); err != nil {
				return err
			}
			return change(s, next, back)
		},
		"put with an editVersion": func(s table.Store) error {
			return s.Put(t.Context(), table.Put{Item: begun, If: table.NotExists()})
		},
		"title changes and": func(s table.Store) error {
			return update(t, s, good, item.Item{"title": item.String("y")}, table.AtVersion(1))
		},
		"condition on statsVersion": func(s table.Store) error {
			return update(t, s, meta, item.Item{"statsVersion": item.Int(1)}, table.Exists())
		},
		"change version or updatedAt": func(s table.Store) error {
			return update(t, s, meta, item.Item{"statsVersion": item.Int(1), "version": item.Int(1)},
				table.Exists(table.Missing("statsVersion")))
		},
		"without a condition": func(s table.Store) error { return s.Load(t.Context(), []item.Item{good}) },
		"a scan":              func(s table.Store) error { _, err := s.Query(t.Context(), table.Query{}); return err },
		"no question of tags": func(s table.Store) error {
			_, err := s.Query(t.Context(), table.Query{Partition: "p", AnyTag: []string{"x"}, AnyTagOr: "title"})
			return err
		},
		"an edge stands in the index at LINKED#NOTE": func(s table.Store) error {
			note := entity.Ref{Type: product.TypeNote, ID: "note_1"}
			row := entity.LinkKey("ann", typ.Ref(good), note).Item()
			row["GSI4PK"], row["GSI4SK"] = item.String("LINKED#NOTE#note_1"), item.String("TASK#task_1")
			return s.Put(t.Context(), table.Put{Item: row})
		},
		"known row": func(s table.Store) error {
			return s.Put(t.Context(), table.Put{Item: item.Key{PK: entity.UserPK("ann"), SK: "HABIT#1"}.Item()})
		},
	} {
		store := memory.New(time.Now, memory.Options{})
		require.NoError(t, store.Load(t.Context(), []item.Item{good, meta}))
		law := tabletest.NewLaw(store, product.Registry())
		_ = call(law) // some are refused by the store as well
		require.Contains(t, strings.Join(law.Broken(), "\n"), rule)
	}
}

func update(t *testing.T, s table.Store, row, set item.Item, condition table.Condition) error {
	_, err := s.Update(t.Context(), table.Update{Key: row.Key(), Set: set, If: condition})
	return err
}

func mustMerge(t *testing.T, typ *entity.Type, doc map[string]any) item.Item {
	patch, errs := typ.Parse(doc)
	require.Empty(t, errs)
	merged, errs := typ.Merge(nil, patch)
	require.Empty(t, errs)
	return merged
}

// The system archives a task, and its user takes it up again.
func TestLaw_letsTheSystemKeepTheEditVersion(t *testing.T) {
	t.Parallel()
	typ := product.Task()
	good := typ.NewItem("ann", "task_1", mustMerge(t, typ, map[string]any{"title": "x"}), time.Unix(1750000000, 0), nil)
	store := memory.New(time.Now, memory.Options{})
	require.NoError(t, store.Load(t.Context(), []item.Item{good}))
	law := tabletest.NewLaw(store, product.Registry())
	row := good
	for i, by := range []entity.Writer{entity.BySystem, entity.BySystem, entity.ByUser, entity.BySystem} {
		after := row.Clone()
		after["status"] = item.String([]string{"ARCHIVED", "BACKLOG"}[i%2])
		after = typ.NextVersion(by, "ann", row, after, time.Unix(1750000001, 0), nil)
		_, err := law.Update(t.Context(), table.Diff(row, after, table.AtVersion(row.Int("version"))))
		require.NoError(t, err)
		row = after
		require.Equal(t, []int64{1, 1, 4, 4}[i], entity.EditVersion(row))
		require.Equal(t, by == entity.BySystem, row.Has("editVersion"))
	}
	require.True(t, entity.HoldsAt(row, 4) && entity.HoldsAt(row, 5))
	require.False(t, entity.HoldsAt(row, 3) || entity.HoldsAt(row, 6))
	require.Empty(t, law.Broken())
}
