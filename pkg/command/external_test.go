package command_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// rename is a command of another package: it gives a task another title, in a transaction of its own.
func (b *fixture) rename(id, title string) command.DelegatedCommand {
	write := func(ctx context.Context, more ...func(item.Item) table.Action) (item.Item, error) {
		row := b.stored(product.Task(), id)
		after := row.Clone()
		after[entity.AttrTitle] = item.String(title)
		after[entity.AttrVersion] = item.Int(row.Int(entity.AttrVersion) + 1)
		actions := []table.Action{table.Diff(row, after, table.AtVersion(row.Int(entity.AttrVersion)))}
		for _, action := range more {
			actions = append(actions, action(after))
		}
		err := b.store.Transact(ctx, actions...)
		var failed *table.ConditionError
		if !errors.As(err, &failed) {
			return after, err
		}
		told := &table.ConditionError{}
		for _, f := range failed.Failures {
			told.Failures = append(told.Failures, table.Failure{Index: f.Index - 1, Old: f.Old})
		}
		return nil, told
	}
	return command.DelegatedCommand{Name: "rename", Type: product.Task(), ID: id, Write: write}
}

func TestService_makesAnExternalWriteOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	first := b.must(b.rename(id, "u"), key("k"))
	require.Equal(t, []any{"u", int64(2), false},
		[]any{first.Item.Str("title"), first.Item.Int("version"), first.Replayed})
	again := b.must(b.rename(id, "v"), key("k"))
	require.Equal(t, []any{"u", int64(2), true}, []any{again.Item.Str("title"), again.Item.Int("version"), again.Replayed})
	require.Equal(t, "u", b.stored(product.Task(), id).Str("title"))

	other := b.create(product.Task(), `{"title":"t"}`)
	_, err := b.do(b.rename(other, "u"), key("k"))
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	require.Equal(t, "t", b.stored(product.Task(), other).Str("title"))
	without := b.must(b.rename(other, "u"))
	require.Equal(t, []any{"u", false}, []any{without.Item.Str("title"), without.Replayed})
	b.must(command.Delete{Type: product.Task(), ID: id}, at(2))
	require.True(t, b.must(b.rename(id, "u"), key("k")).Deleted)
}

func TestService_refusesAnExternalWriteOfAnIDOutsideItsType(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"a#b", "note_" + uuid(1), ""} {
		_, err := b.do(command.DelegatedCommand{Name: "rename", Type: product.Task(), ID: id}, key("k"))
		requireNotFound(t, err, "")
	}
}

func TestService_findsTheTwinOfAnExternalWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	b.once("Transact", memory.Before, func() error {
		b.must(b.rename(id, "twin"), key("k"))
		return nil
	})
	res := b.must(b.rename(id, "u"), key("k"))
	require.True(t, res.Replayed)
	require.Equal(t, "twin", b.stored(product.Task(), id).Str("title"))
	require.Empty(t, b.pauses, "the receipt that is there is the answer")

	b.once("Transact", memory.Before, func() error {
		b.must(command.Create{Type: product.Task(), Fields: doc(`{"title":"x"}`)}, key("k2"))
		return nil
	})
	_, err := b.do(b.rename(id, "u"), key("k2"))
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	require.Equal(t, "twin", b.stored(product.Task(), id).Str("title"))
}

func TestService_repeatsAnExternalWriteWhoseRowMoved(t *testing.T) {
	t.Parallel()
	for _, options := range [][]option{{key("k")}, nil} {
		b := setup(t)
		id := b.create(product.Task(), `{"title":"t"}`)
		b.once("Transact", memory.Before, func() error {
			b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"description":"d"}`)}, at(1))
			return nil
		})
		res := b.must(b.rename(id, "u"), options...)
		require.Equal(t, []any{"u", int64(3), false}, []any{res.Item.Str("title"), res.Item.Int("version"), res.Replayed})
	}
}

func TestService_checksTheReceiptAfterAFailedExternalWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	refused := errors.New("refused")
	cmd := b.rename(id, "u")
	cmd.Write = func(context.Context, ...func(item.Item) table.Action) (item.Item, error) { return nil, refused }
	for _, options := range [][]option{{key("k")}, nil} {
		_, err := b.do(cmd, options...)
		require.ErrorIs(t, err, refused)
	}
	cmd.Write = func(context.Context, ...func(item.Item) table.Action) (item.Item, error) {
		b.must(b.rename(id, "twin"), key("k"))
		return nil, refused
	}
	require.True(t, b.must(cmd, key("k")).Replayed, "the twin did what was refused")

	b.once("Get", memory.Before, func() error { return table.ErrUnavailable })
	_, err := b.do(b.rename(id, "v"), key("k3"))
	require.ErrorIs(t, err, table.ErrUnavailable)
	require.Equal(t, "twin", b.stored(product.Task(), id).Str("title"), "nothing is written before the receipt was read")
}
