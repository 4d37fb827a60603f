package memory_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// injector fails the calls that its rule names, and remembers all of them.
type injector struct {
	fail  func(memory.Call) error
	calls []memory.Call
}

func (i *injector) fault(c memory.Call) error {
	i.calls = append(i.calls, c)
	if i.fail == nil {
		return nil
	}
	return i.fail(c)
}

// writes are the ways to bring row a to count 2.
func writes(b *fixture) map[string]func() error {
	return map[string]func() error{
		"Put": func() error { return b.store.Put(b.ctx, table.Put{Item: note("a", count(2))}) },
		"Update": func() error {
			_, err := b.store.Update(b.ctx, table.Update{Key: noteKey("a"), Set: count(2)})
			return err
		},
		"Transact": func() error { return b.store.Transact(b.ctx, table.Put{Item: note("a", count(2))}) },
		"Load":     func() error { return b.store.Load(b.ctx, []item.Item{note("a", count(2))}) },
	}
}

func TestOptions_faultBeforeTheEffectPreventsIt(t *testing.T) {
	t.Parallel()
	testFault(t, memory.Before, table.ErrThrottled, 1)
}

func TestOptions_faultAfterTheEffectHidesIt(t *testing.T) {
	t.Parallel()
	testFault(t, memory.After, table.ErrUnavailable, 2)
}

func testFault(t *testing.T, stage memory.Stage, injected error, want int64) {
	for _, op := range []string{"Put", "Update", "Transact", "Load"} {
		faults := &injector{}
		b := setup(t, memory.Options{Fault: faults.fault})
		b.put("a", count(1))
		faults.fail = func(c memory.Call) error {
			if c.Stage == stage {
				return injected
			}
			return nil
		}
		b.ErrorIs(writes(b)[op](), injected, op)
		faults.fail = nil
		row, err := b.store.Get(b.ctx, noteKey("a"))
		b.NoError(err)
		b.Equal(want, row.Int("count"), op)
		b.Len(b.drainShard(b.only()), int(want), op)
	}
}

func TestOptions_faultSeesWhatTheCallNamesAndAnswers(t *testing.T) {
	t.Parallel()
	faults := &injector{}
	b := setup(t, memory.Options{Fault: faults.fault})
	b.NoError(b.store.Transact(b.ctx, table.Put{Item: note("b", nil)}, table.Delete{Key: noteKey("a")}))
	failed := b.store.Put(b.ctx, table.Put{Item: note("b", nil), If: table.NotExists()})
	_, err := b.store.Get(b.ctx, noteKey("a"))
	b.ErrorIs(err, table.ErrNotFound)
	_, err = b.store.Query(b.ctx, table.Query{Partition: entity.UserPK("u")})
	b.NoError(err)

	b.Len(faults.calls, 8)
	for i, c := range faults.calls {
		b.Equal([]memory.Stage{memory.Before, memory.After}[i%2], c.Stage)
	}
	b.Equal("Transact", faults.calls[0].Op)
	b.Equal([]item.Key{noteKey("b"), noteKey("a")}, faults.calls[1].Keys)
	var condition *table.ConditionError
	b.ErrorAs(failed, &condition)
	b.ErrorAs(faults.calls[3].Err, &condition)
	b.ErrorIs(faults.calls[5].Err, table.ErrNotFound)
	b.Equal(entity.UserPK("u"), faults.calls[6].Query.Partition)
	b.NoError(faults.calls[7].Err)
}

func TestOptions_faultInOneRoundTripLeavesTheFormerDone(t *testing.T) {
	t.Parallel()
	faults := &injector{}
	b := setup(t, memory.Options{Fault: faults.fault})
	rows := make([]item.Item, 60)
	for i := range rows {
		rows[i] = note(numbered(i), nil)
	}
	faults.fail = func(c memory.Call) error {
		if c.Stage == memory.Before && c.Keys[0] == rows[25].Key() {
			return table.ErrUnavailable
		}
		return nil
	}
	b.ErrorIs(b.store.Load(b.ctx, rows), table.ErrUnavailable)
	b.Equal(25, b.store.Len())
}

func TestOptions_faultMayUseTheStore(t *testing.T) {
	t.Parallel()
	var b *fixture
	inside := false
	b = setup(t, memory.Options{Fault: func(c memory.Call) error {
		if !inside && c.Op == "Update" && c.Stage == memory.Before {
			inside = true // another writer is faster
			_, err := b.store.Update(b.ctx, table.Update{Key: noteKey("a"), Set: item.Item{entity.AttrVersion: item.Int(2)}})
			require.NoError(t, err)
		}
		return nil
	}})
	b.put("a", item.Item{entity.AttrVersion: item.Int(1)})
	_, err := b.store.Update(b.ctx, table.Update{
		Key: noteKey("a"), Set: item.Item{entity.AttrVersion: item.Int(2)}, If: table.AtVersion(1),
	})
	var failed *table.ConditionError
	b.True(errors.As(err, &failed))
	b.Equal(int64(2), failed.Failures[0].Old.Int(entity.AttrVersion))
}

func TestCall_isNoneForARefusedRequest(t *testing.T) {
	t.Parallel()
	faults := &injector{}
	b := setup(t, memory.Options{Fault: faults.fault})
	b.ErrorIs(b.store.Put(b.ctx, table.Put{Item: item.Item{}}), table.ErrInvalid)
	b.ErrorIs(b.store.Transact(b.ctx), table.ErrInvalid)
	b.Empty(faults.calls)
}
