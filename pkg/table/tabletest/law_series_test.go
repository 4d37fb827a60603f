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

// weekly is a series as a command leaves it, and one exception of it.
func weekly(t *testing.T) (master, instance item.Item) {
	t.Helper()
	now := time.Unix(1750000000, 0)
	master = product.Master().NewItem("ann", "mst_1", mustMerge(t, product.Master(), map[string]any{
		"title": "x", "startUtc": "2025-06-02T09:00:00", "rrule": "FREQ=WEEKLY",
		"links": []any{map[string]any{"targetType": "NOTE", "targetId": "note_1"}},
	}), now, nil)
	fields := item.Item{
		"masterId": item.String("mst_1"), "recurrenceId": item.String("2025-06-09T09:00:00Z"), "isAllDay": item.Bool(false),
		"startUtc": item.String("2025-06-09T10:00:00Z"), "endUtc": item.String("2025-06-11T10:00:00Z"),
		"modifiedFields": item.List{item.String("startUtc"), item.String("endUtc")},
	}
	return master, product.Instance().NewItem("ann", "inst_20250609_1", fields, now, nil)
}

func TestLaw_isBrokenByAWrongSeriesOrExceptionOnEachRule(t *testing.T) {
	t.Parallel()
	master, instance := weekly(t)
	require.Empty(t, tabletest.CheckRow(product.Master(), master))
	require.Empty(t, tabletest.CheckRow(product.Instance(), instance))
	set := func(name, value string) func(item.Item) {
		return func(it item.Item) { it[name] = item.String(value) }
	}
	for rule, spoil := range map[string]func(item.Item){
		"MASTER#mst_1 / MASTER":           set("GSI2SK", "MASTER#mst_1"),
		"want both":                       func(it item.Item) { delete(it, "GSI1PK"); delete(it, "GSI1SK") },
		"GSI3 \"MASTER#IDLE":              set("GSI3SK", "MASTER#IDLE#9999-12-31T23:59:59Z"),
		"never archived":                  func(it item.Item) { it["ttl"] = item.Int(1750000000) },
		"GSI2PK and GSI2SK must":          func(it item.Item) { delete(it, "GSI2PK") },
		"GSI2 keys are MASTER#mst_1 / I":  set("GSI2SK", "INSTANCE#20250602"),
		"is \"MASTER#1\", want \"MASTER#": set("SK", "MASTER#1"),
	} {
		row := master.Clone()
		spoil(row)
		require.Contains(t, strings.Join(tabletest.CheckRow(product.Master(), row), "\n"), rule)
	}
	for rule, spoil := range map[string]func(item.Item){
		"want INSTANCE#<series>":       set("SK", "INSTANCE#inst_20250609_1"),
		"want \"inst_20250609_1\"":     set("eventId", "inst_20250610_1"),
		"want \"mst_1\"":               set("masterId", "mst_2"),
		"want the prefix inst_":        set("eventId", "evt_1"),
		"/ INSTANCE#20250609":          set("GSI2SK", "INSTANCE#20250610"),
		"not in GSI1":                  func(it item.Item) { delete(it, "GSI1PK"); delete(it, "GSI1SK") },
		"GSI3 keys are USER#ann / INS": set("GSI3SK", "INSTANCE#LONG#2025-06-11T10:00:00Z"),
		"undone has index keys":        func(it item.Item) { delete(it, "modifiedFields") },
		"never archived":               func(it item.Item) { it["ttl"] = item.Int(1750000000) },
	} {
		row := instance.Clone()
		spoil(row)
		require.Contains(t, strings.Join(tabletest.CheckRow(product.Instance(), row), "\n"), rule)
	}
	task := product.Task().NewItem("ann", "task_1", mustMerge(t, product.Task(), map[string]any{"title": "x"}),
		time.Unix(1750000000, 0), nil)
	task["GSI2PK"], task["GSI2SK"] = item.String("MASTER#mst_1"), item.String("MASTER")
	require.Contains(t, strings.Join(tabletest.CheckRow(product.Task(), task), "\n"), "GSI2 keys are")
}

func TestLaw_isBrokenByAWrongCallAboutASeriesOnEachRule(t *testing.T) {
	t.Parallel()
	master, instance := weekly(t)
	count := func(set item.Item, tests ...table.Test) table.Update {
		return table.Update{
			Key: master.Key(), Set: set, If: table.Exists(append(tests, table.Equal("version", item.Int(1)))...),
		}
	}
	one := item.Item{"hasExceptions": item.Bool(true), "exceptionsVersion": item.Int(1)}
	none := table.Missing("exceptionsVersion")
	put := table.Put{Item: instance, If: table.NotExists()}
	changed := instance.Clone()
	changed["title"] = item.String("y")
	changed = product.Instance().NextVersion(entity.ByUser, "ann", instance, changed, time.Unix(1750000001, 0), nil)
	both := func(s table.Store, actions ...table.Action) error { return s.Transact(t.Context(), actions...) }
	for rule, call := range map[string]func(table.Store) error{
		"":                           func(s table.Store) error { return both(s, put, count(one, none)) },
		"without a condition on exc": func(s table.Store) error { return both(s, put, count(one)) },
		"counts as 2": func(s table.Store) error {
			return both(s, put, count(item.Item{"exceptionsVersion": item.Int(2)}, none))
		},
		"updatedAt changes with the book": func(s table.Store) error {
			return both(s, put, count(item.Item{"exceptionsVersion": item.Int(1), "updatedAt": instance["updatedAt"]}, none))
		},
		"hasExceptions changes and ver": func(s table.Store) error {
			return both(s, count(item.Item{"hasExceptions": item.Bool(true)}, none))
		},
		"version = :expected": func(s table.Store) error {
			return both(s, table.Update{Key: master.Key(), Set: one, If: table.Exists(none)})
		},
		"written without its series": func(s table.Store) error { return both(s, put) },
		"20250609: an exception is written": func(s table.Store) error {
			if err := both(s, put, count(one, none)); err != nil {
				return err
			}
			return both(s, table.Diff(instance, changed, table.AtVersion(1)))
		},
		"other dates": func(s table.Store) error {
			after := master.Clone()
			after["rrule"] = item.String("FREQ=DAILY")
			return both(s, table.Diff(master,
				product.Master().NextVersion(entity.ByUser, "ann", master, after, time.Unix(1750000001, 0), nil),
				table.AtVersion(1)))
		},
		"deleted while its series": func(s table.Store) error {
			return s.Delete(t.Context(), table.Delete{Key: instance.Key()})
		},
	} {
		store := memory.New(time.Now, memory.Options{})
		require.NoError(t, store.Load(t.Context(), []item.Item{master}))
		law := tabletest.NewLaw(store, product.Registry())
		require.NoError(t, call(law), rule)
		if rule == "" {
			require.Empty(t, law.Broken())
			continue
		}
		require.Contains(t, strings.Join(law.Broken(), "\n"), rule)
	}
}

func TestLaw_letsExceptionsBeWrittenAndRemovedAlone(t *testing.T) {
	t.Parallel()
	master, instance := weekly(t)
	store := memory.New(time.Now, memory.Options{})
	law := tabletest.NewLaw(store, product.Registry())
	require.NoError(t, law.Transact(t.Context(),
		table.Check{Key: master.Key(), If: table.NotExists()}, table.Put{Item: instance, If: table.NotExists()}))
	undone := instance.Clone()
	delete(undone, "modifiedFields")
	undone = product.Instance().NextVersion(entity.ByUser, "ann", instance, undone, time.Unix(1750000001, 0), nil)
	_, err := law.Update(t.Context(), table.Diff(instance, undone, table.AtVersion(1)))
	require.NoError(t, err)
	require.NoError(t, law.Delete(t.Context(), table.Delete{Key: instance.Key()}))
	require.Empty(t, law.Broken())
}
