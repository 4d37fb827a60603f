package verify_test

import (
	"context"
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
	"nexus/pkg/verify"
)

// split splits ann's series at its second day; interrupted, it dies before its commit.
func (w *fixture) split(master item.Item, interrupted bool) (item.Item, error) {
	w.t.Helper()
	ctx, die := context.WithCancel(w.t.Context())
	defer die()
	w.fault = func(c memory.Call) error {
		if interrupted && c.Op == "Transact" && c.Stage == memory.Before && slices.Contains(c.Keys, master.Key()) &&
			!isStaging(c.Keys) {
			die()
			return table.ErrUnavailable
		}
		return nil
	}
	defer func() { w.fault = nil }()
	version := master.Int(entity.AttrVersion)
	result, err := w.commands.Do(ctx, command.Request{User: ann, ExpectedVersion: &version, Command: command.SplitSeries{
		ID: master.Str("masterId"), Date: "20260303", Changes: map[string]any{"title": "from here on"},
	}})
	return result.Item, err
}

// isStaging says that a transaction writes exceptions.
func isStaging(keys []item.Key) bool {
	return slices.ContainsFunc(keys, func(k item.Key) bool {
		key, err := entity.ParseSortKey(k.SK)
		return err == nil && key.Prefix == entity.TypeInstance
	})
}

// staged are the exceptions that stand for a series which is not there.
func (w *fixture) staged(without item.Item) (rows []item.Item) {
	w.t.Helper()
	for _, row := range w.rows(ann, entity.ItemPrefix(entity.TypeInstance)) {
		if row.Str("masterId") != without.Str("masterId") {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestVerifier_leavesWhatASplitHasJustWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	master := w.populate(ann)["master"]
	_, err := w.split(master, true)
	require.Error(t, err)
	require.NotEmpty(t, w.staged(master))
	require.True(t, w.drain())
	w.now = w.now.Add(9 * time.Minute)
	found, _ := w.verify(verify.Options{Repair: true})
	require.Empty(t, found)
}

func TestVerifier_undoesAnInterruptedSplitThatCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	master := w.get(of["master"].Key())
	_, err := w.split(master, true)
	require.Error(t, err)
	require.True(t, w.drain())
	left := w.staged(master)
	require.Len(t, left, 1)
	require.NotEmpty(t, entity.LinksOf(left[0]))

	w.now = w.now.Add(11 * time.Minute)
	w.waiting = func() { w.drain() }
	found, sum := w.verify(verify.Options{Repair: true})
	require.NotEmpty(t, found)
	require.Equal(t, verify.Exception, found[0].Kind)
	require.Equal(t, left[0].Key().String(), found[0].Key)
	require.Zero(t, sum.Remaining, "%v", found)
	require.True(t, w.drain())
	row := w.get(left[0].Key())
	require.Empty(t, entity.LinksOf(row))
	require.False(t, row.Has(product.AttrModifiedFields) || row.Has(item.AttrGSI1PK))
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)

	_, err = w.split(master, false)
	require.NoError(t, err)
	require.True(t, w.drain())
	again := w.get(left[0].Key())
	require.NotEmpty(t, entity.LinksOf(again), "the new series has the exception")
	require.Greater(t, again.Int("version"), row.Int("version"), "its ledger counts on")
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found, "and its links")
}

func TestVerifier_endsAnInterruptedDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	master := w.get(of["master"].Key())
	exception := of["instance"].Key()
	kept := w.keep(exception, true)
	w.lose()
	committed := false
	w.fault = func(c memory.Call) error {
		if committed {
			return table.ErrUnavailable
		}
		committed = c.Op == "Transact" && c.Stage == memory.After && slices.Contains(c.Keys, master.Key())
		return nil
	}
	version := master.Int(entity.AttrVersion)
	_, err := w.commands.Do(t.Context(), command.Request{
		User: ann, Command: command.DeleteSeries{ID: master.Str("masterId")}, ExpectedVersion: &version,
	})
	require.Error(t, err)
	w.fault = nil
	require.Nil(t, w.get0(master.Key()))
	require.NotNil(t, w.get0(exception))
	require.True(t, w.drain())

	w.waiting = func() { w.drain() }
	found, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.Len(t, found, 1)
	require.Equal(t, verify.Exception, found[0].Kind)
	require.Zero(t, sum.Remaining)
	require.Nil(t, w.get0(exception))
	require.Nil(t, w.get0(kept), "what lay beside it goes with it")
	require.True(t, w.drain())
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)
}
