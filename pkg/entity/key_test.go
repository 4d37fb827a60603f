package entity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

func TestNewRegistry_refusesATypeOutsideTheConventions(t *testing.T) {
	good := product.Note()
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
	_, err := entity.NewRegistry(good, product.Note())
	require.ErrorContains(t, err, "taken")
	require.NotNil(t, product.Registry().ByID("rem_1"))
}

func FuzzSortKey(f *testing.F) {
	for _, sk := range []string{"TASK#task_1", "LINK#TASK#task_1#NOTE#note_1", "TIMER#ARCHIVE#task_1#3",
		"INSTANCE#mst_a_b#20251224", "INSTANCE#0#00000101", "USER_META#ann", "LEDGER#stats#evt_1",
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

func TestCheckID_refusesTheSeparatorInAKeyComponent(t *testing.T) {
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

func TestKeptKey_containsTheKeyOfItsItem(t *testing.T) {
	t.Parallel()
	const id = "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11"
	for _, ref := range []entity.Ref{
		{Type: product.TypeEvent, ID: "evt_" + id}, {Type: entity.TypeMaster, ID: "mst_" + id},
		{Type: entity.TypeInstance, ID: "inst_20260101_" + id},
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
	for _, sk := range []string{
		"KEPT", "KEPT#EVENT", "KEPT#COLD#evt_" + id, "KEPT#INSTANCE#mst_" + id, "KEPT#KEPT#EVENT#evt_" + id,
	} {
		_, err := entity.ParseSortKey(sk)
		require.Error(t, err, sk)
		_, err = entity.ParseKept(sk)
		require.Error(t, err, sk)
	}
	_, err := entity.ParseKept("EVENT#evt_" + id)
	require.Error(t, err, "the key of an item")
}

// A prefix of which neither the register nor the registry knows is no entity type's.
func TestParseSortKey_refusesAPrefixThatNobodyKnows(t *testing.T) {
	t.Parallel()
	book := *product.Note()
	book.Name = "BOOK"
	for _, sk := range []string{"BOOK#book_1", "KEPT#BOOK#book_1"} {
		_, err := entity.ParseSortKey(sk)
		require.Error(t, err, sk)
		_, err = entity.ParseSortKey(sk, product.Note())
		require.Error(t, err, sk)
		key, err := entity.ParseSortKey(sk, &book)
		require.NoError(t, err)
		require.Equal(t, sk == "KEPT#BOOK#book_1", key.IsRow())
	}
	for _, typ := range product.Registry().Types() {
		if typ.Name != entity.TypeInstance {
			key, err := entity.ParseSortKey(typ.Name + "#1")
			require.NoError(t, err)
			require.False(t, key.IsRow())
		}
	}
}
