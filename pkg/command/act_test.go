package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestService_carriesOutACommandOfAnotherProduct(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	act := func(apply func(before item.Item, now time.Time) (item.Item, error)) command.CustomCommand {
		return command.CustomCommand{Name: "raise", Type: product.Task(), ID: id, Apply: apply}
	}
	raise := act(func(before item.Item, _ time.Time) (item.Item, error) {
		after := before.Clone()
		after["priority"] = item.Int(before.Int("priority") - 1)
		return after, nil
	})
	res := b.must(raise, key("k1"))
	b.took("BatchGet Transact")
	require.Equal(t, int64(2), res.Item.Int("version"))
	require.Equal(t, "TASK#BACKLOG#P2#2025-12-01T12:00:00Z", res.Item.Str("GSI3SK"))
	require.True(t, b.must(raise, key("k1")).Replayed)
	b.must(raise)
	_, err := b.do(raise)
	require.Equal(t, []string{"/priority"}, pointers(t, err), "no priority above the first")

	_, err = b.do(act(func(item.Item, time.Time) (item.Item, error) {
		return nil, &command.StateError{Reason: "is resting"}
	}))
	requireState(t, err, "is resting")
	_, err = b.do(act(func(item.Item, time.Time) (item.Item, error) { return nil, nil }))
	require.ErrorContains(t, err, "left no entity")
	b.trips()
	b.must(act(func(before item.Item, _ time.Time) (item.Item, error) { return before, nil }))
	b.took("BatchGet")
}

func TestService_holdsACustomCommandAgainstThePreferences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	done := b.must(command.CustomCommand{Name: "finish", Type: product.Task(), ID: id,
		Apply: func(before item.Item, _ time.Time) (item.Item, error) {
			after := before.Clone()
			after["status"] = item.String("COMPLETED")
			return after, nil
		}})
	b.took("BatchGet Update")
	require.Equal(t, "2025-12-02T12:00:00Z", done.Item.Str("archiveAt"), "as a patch would set it")
}

func TestCustomCommand_hasTheTimeOfItsAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	b.busy = func() error {
		b.now = b.now.Add(time.Second)
		return nil
	}
	b.once("Update", memory.Before, func() error { return table.ErrConflict })
	var times []time.Time
	b.must(command.CustomCommand{Name: "raise", Type: product.Task(), ID: id,
		Apply: func(before item.Item, now time.Time) (item.Item, error) {
			times = append(times, now)
			after := before.Clone()
			after["priority"] = item.Int(1)
			return after, nil
		}})
	require.Equal(t, []time.Time{noon, noon.Add(time.Second)}, times)
}
