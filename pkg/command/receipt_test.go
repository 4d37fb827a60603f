package command_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// commands are all kinds of writes, on entities made for them.
func commands(b *fixture) map[string]struct {
	cmd command.Command
	at  []option
} {
	task := func() string { return b.create(product.Task(), `{"title":"t"}`) }
	rem := func() string { return b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`) }
	note := entity.Ref{Type: "NOTE", ID: b.create(product.Note(), `{"title":"n"}`)}
	linked := b.create(product.Task(), `{"title":"t","links":[{"targetType":"NOTE","targetId":"`+note.ID+`"}]}`)
	type row = struct {
		cmd command.Command
		at  []option
	}
	return map[string]row{
		"create":        {command.Create{Type: product.Task(), Fields: doc(`{"title":"t"}`)}, nil},
		"create chosen": {command.Create{Type: product.Task(), ID: "task_" + uuid(99), Fields: doc(`{"title":"t"}`)}, nil},
		"create with links": {command.Create{Type: product.Task(),
			Fields: doc(`{"title":"t","links":[{"targetType":"NOTE","targetId":"` + note.ID + `"}]}`)}, nil},
		"update": {command.Update{Type: product.Task(), ID: task(), Patch: doc(`{"title":"u"}`)}, []option{at(1)}},
		"update of nothing": {command.Update{Type: product.Task(), ID: task(), Patch: doc(`{"title":"t"}`)},
			[]option{at(1)}},
		"delete":             {command.Delete{Type: product.Task(), ID: task()}, []option{at(1)}},
		"add link":           {command.AddLink{Type: product.Task(), ID: task(), Target: note}, nil},
		"remove link":        {command.RemoveLink{Type: product.Task(), ID: linked, Target: note}, nil},
		"snooze":             {command.SnoozeReminder{ID: rem(), Minutes: minutes(5)}, nil},
		"complete":           {command.CompleteReminder{ID: rem()}, nil},
		"dismiss":            {command.DismissReminder{ID: rem()}, nil},
		"update me":          {command.UpdateMe{Patch: doc(`{"defaultTzid":"Asia/Tokyo"}`)}, []option{at(0)}},
		"update me, nothing": {command.UpdateMe{Patch: doc(`{"defaultTzid":"UTC"}`)}, []option{at(0)}},
	}
}

// requireReplay holds that two answers are of the same request, carried out once.
func requireReplay(t *testing.T, first, second command.Result) {
	t.Helper()
	require.True(t, second.Replayed)
	require.False(t, first.Replayed)
	require.Equal(t, first.Ref, second.Ref)
	require.Equal(t, first.Item.Int("version"), second.Item.Int("version"))
	require.Equal(t, first.Created, second.Created)
	require.Equal(t, first.Deleted, second.Deleted)
	if first.Item.Int("version") == 0 {
		return // the defaults of USER_META, which no row dates
	}
	require.True(t, first.Item.Equal(second.Item), "%v\n%v", first.Item, second.Item)
}

func TestService_givesARequestUnderOneKeyOneEffect(t *testing.T) {
	t.Parallel()
	for name := range commands(setup(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := commands(b)[name]
			options := append(c.at, key("k1"))
			first := b.must(c.cmd, options...)
			b.tookAtMost(2)
			rows, written := b.store.Len(), b.stored(first.Type, first.Ref.ID)
			b.now = noon.Add(24*time.Hour - time.Second)
			second := b.must(c.cmd, options...)
			b.tookAtMost(2)
			requireReplay(t, first, second)
			require.Equal(t, rows, b.store.Len())
			require.True(t, written.Equal(b.stored(first.Type, first.Ref.ID)))

			_, err := b.do(c.cmd, append(options, at(5))...)
			require.ErrorIs(t, err, idempotency.ErrKeyReused, "another expected version is another request")
			_, err = b.do(command.Create{Type: product.Note(), Fields: doc(`{"title":"n"}`)}, key("k1"))
			require.ErrorIs(t, err, idempotency.ErrKeyReused)
			other := b.must(command.Create{Type: product.Note(), Fields: doc(`{"title":"n"}`)}, key("k1"), as(bob))
			require.False(t, other.Replayed, "keys are each user's own")
		})
	}
}

func TestReplay_answersARequestWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	for name := range commands(setup(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := commands(b)[name]
			options := append(c.at, key("k1"))
			b.fault = func(call memory.Call) error {
				if call.Stage == memory.After && (call.Op == "Transact" || call.Op == "Put") {
					return table.ErrUnavailable
				}
				return nil
			}
			_, err := b.do(c.cmd, options...)
			require.ErrorIs(t, err, table.ErrUnavailable)
			b.fault = nil
			require.True(t, b.must(c.cmd, options...).Replayed)
		})
	}
}

func TestReplay_answersATwinThatWroteAfterTheRead(t *testing.T) {
	t.Parallel()
	for name := range commands(setup(t)) {
		for _, op := range []string{"BatchGet", "Transact", "Put"} {
			for _, stage := range []memory.Stage{memory.Before, memory.After} {
				if op != "BatchGet" && stage == memory.After {
					continue // done is done
				}
				t.Run(name+" at "+op, func(t *testing.T) {
					t.Parallel()
					b := setup(t)
					c := commands(b)[name]
					options := append(c.at, key("k1"))
					var first command.Result
					b.once(op, stage, func() error {
						first = b.must(c.cmd, options...)
						return nil
					})
					second := b.must(c.cmd, options...)
					if first.Type == nil {
						return // the command does not use this operation
					}
					requireReplay(t, first, second)
				})
			}
		}
	}
}

func TestReplay_answersATwinBetweenReadOfItemAndReceipt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := commands(b)["update"]
	first := b.must(c.cmd, append(c.at, key("k1"))...)
	// A batch read is no snapshot: put the row back to what a read before the twin would have seen.
	k := first.Item.Key()
	b.once("BatchGet", memory.Before, func() error {
		b.set(k, item.Item{"version": item.Int(1)})
		b.once("BatchGet", memory.After, func() error {
			b.set(k, item.Item{"version": item.Int(2)})
			return nil
		})
		return nil
	})
	requireReplay(t, first, b.must(c.cmd, append(c.at, key("k1"))...))
}

func TestRecheck_holdsARefusalAgainstTheReceiptOnceMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := commands(b)["update"]
	first := b.must(c.cmd, append(c.at, key("k1"))...)
	// The other way round: the receipt was read before the twin, and the item after.
	var receipt item.Item
	b.once("BatchGet", memory.Before, func() error {
		rows, err := b.store.Query(t.Context(), table.Query{
			Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.RowReceipt},
		})
		require.NoError(t, err)
		require.Len(t, rows.Items, 1)
		receipt = rows.Items[0]
		require.NoError(t, b.store.Delete(t.Context(), table.Delete{Key: receipt.Key()}))
		b.once("BatchGet", memory.After, func() error {
			return b.store.Put(t.Context(), table.Put{Item: receipt})
		})
		return nil
	})
	requireReplay(t, first, b.must(c.cmd, append(c.at, key("k1"))...))
	require.NotNil(t, receipt)
}

func TestReplay_answersWithTheEntityAsItIsNow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := command.Create{Type: product.Task(), Fields: doc(`{"title":"t"}`)}
	id := b.must(create, key("k1")).Ref.ID
	b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}, at(1))
	res := b.must(create, key("k1"))
	require.True(t, res.Created && res.Replayed)
	require.Equal(t, "u", res.Item.Str("title"))
	b.must(command.Delete{Type: product.Task(), ID: id}, at(2))
	res = b.must(create, key("k1"))
	require.True(t, res.Deleted && res.Replayed)
	require.False(t, res.Created)
	require.Nil(t, res.Item)
}

func TestReplay_forgetsAKeyAfterADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := command.Create{Type: product.Task(), Fields: doc(`{"title":"t"}`)}
	first := b.must(create, key("k1"))
	b.now = noon.Add(24 * time.Hour)
	second := b.must(create, key("k1"))
	require.False(t, second.Replayed)
	require.NotEqual(t, first.Ref, second.Ref)
	third := b.must(create, key("k1"))
	require.True(t, third.Replayed)
	require.Equal(t, second.Ref, third.Ref)
	update := command.Update{Type: product.Task(), ID: first.Ref.ID, Patch: doc(`{"title":"u"}`)}
	b.must(update, at(1), key("k2"))
	b.now = b.now.Add(24 * time.Hour)
	_, err := b.do(update, at(1), key("k2"))
	requireStale(t, err, 2)
}

func TestService_keepsNoReceiptOfARefusedRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	_, err := b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}, at(9), key("k"))
	requireStale(t, err, 1)
	_, err = b.do(command.Create{Type: product.Task(), Fields: doc(`{}`)}, key("k"))
	require.Equal(t, []string{"/title"}, pointers(t, err))
	require.False(t, b.must(command.Create{Type: product.Task(), Fields: doc(`{"title":"t"}`)}, key("k")).Replayed)
}

func TestReceiptOf_takesABoundedPrintableKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for k, ok := range map[string]bool{
		"a": true, strings.Repeat("k", 255): true, strings.Repeat("k", 256): false, "a\nb": false, "a\xff": false,
		"a#b/ä c": true,
	} {
		_, err := b.do(command.Create{Type: product.Task(), Fields: doc(`{"title":"t"}`)}, key(k))
		if ok {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, idempotency.ErrKey)
	}
}

func TestService_givesManyTwinsAtOnceOneEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	target := entity.Ref{Type: "NOTE", ID: b.create(product.Note(), `{"title":"n"}`)}
	var wg sync.WaitGroup
	fresh := make([]bool, 16)
	for i := range fresh {
		wg.Go(func() {
			res, err := b.do(command.AddLink{Type: product.Task(), ID: id, Target: target}, key("k"))
			fresh[i] = err == nil && !res.Replayed
		})
	}
	wg.Wait()
	once := 0
	for _, f := range fresh {
		if f {
			once++
		}
	}
	require.Equal(t, 1, once)
	require.Equal(t, int64(2), b.stored(product.Task(), id).Int("version"))
}
