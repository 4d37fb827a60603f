package command_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestNew_needsEveryPart(t *testing.T) {
	t.Parallel()
	whole := func() command.Config {
		return command.Config{
			Store: memory.New(time.Now, memory.Options{}), Registry: product.Registry(), Now: time.Now,
			NewID: func() string { return uuid(1) }, Pause: command.RandomPause(rand.Float64, time.Now),
		}
	}
	require.NotPanics(t, func() { command.New(whole()) })
	for name, without := range map[string]func(*command.Config){
		"store":    func(c *command.Config) { c.Store = nil },
		"registry": func(c *command.Config) { c.Registry = nil },
		"clock":    func(c *command.Config) { c.Now = nil },
		"ids":      func(c *command.Config) { c.NewID = nil },
		"pause":    func(c *command.Config) { c.Pause = nil },
	} {
		c := whole()
		without(&c)
		require.PanicsWithValue(t, "command: a part of the Config is missing", func() { command.New(c) }, name)
	}
	c, err := whole(), error(nil)
	c.Registry, err = entity.NewRegistry(product.Task())
	require.NoError(t, err)
	require.PanicsWithValue(t, "command: no USER_META in the registry", func() { command.New(c) })
}

func TestReceiptOf_distinguishesRequestsAboutDifferentTypes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(command.Create{Type: product.Task(), Fields: doc(`{"title":"t"}`)}, key("k"))
	_, err := b.do(command.Create{Type: product.Note(), Fields: doc(`{"title":"t"}`)}, key("k"))
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
}

func TestCreate_refusesATypeWithoutACollection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, typ := range []*entity.Type{nil, product.UserMeta()} {
		_, err := b.do(command.Create{Type: typ, Fields: doc(`{}`)}, key("k"))
		requireNotFound(t, err, "")
	}
	_, err := b.do(command.CreateSeries{Fields: doc(`{` + standup + `,"rrule":"FREQ=DAILY"}`)})
	requireNotFound(t, err, "")
	_, err = b.do(command.PutInstance{MasterID: "mst_" + uuid(1), Date: "20251201", Fields: doc(`{"title":"x"}`)}, at(1))
	requireNotFound(t, err, "")
}

func TestCreate_refusesAnEmptyID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.do(command.Create{Type: product.Task(), Fields: doc(`{"title":"t","taskId":""}`)})
	require.Equal(t, []string{"/taskId"}, pointers(t, err))
}

func TestReplay_answersThoughTheTargetHasGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	create := command.Create{
		Type: product.Task(), Fields: doc(`{"title":"t","links":[{"targetType":"NOTE","targetId":"` + note + `"}]}`),
	}
	first := b.must(create, key("k"))
	b.must(command.Delete{Type: product.Note(), ID: note}, at(1))
	again := b.must(create, key("k"))
	require.True(t, again.Replayed)
	require.Equal(t, first.Ref, again.Ref)
}

func TestService_namesTheItemOfAFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	update := command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}
	b.once("BatchGet", memory.Before, func() error { return table.ErrThrottled })
	_, err := b.do(update, at(1), key("k"))
	require.ErrorIs(t, err, table.ErrThrottled)
	require.ErrorContains(t, err, "with 1 more", "the receipt")
	b.fault = func(c memory.Call) error {
		if c.Op == "Update" {
			return table.ErrConflict
		}
		return nil
	}
	b.busy = func() error { return context.DeadlineExceeded }
	_, err = b.do(update, at(1))
	require.ErrorIs(t, err, table.ErrConflict)
	require.ErrorContains(t, err, "no time for attempt 2")
	require.EqualError(t, &command.NotFoundError{Ref: entity.Ref{Type: "TASK", ID: "task_x"}},
		`TASK "task_x" does not exist`)
	require.EqualError(t, &command.NotFoundError{Ref: entity.Ref{Type: "TASK", ID: "task_x"}, Pointer: "/p"},
		`/p: TASK "task_x" does not exist`)
}

func TestRemoveLink_countsAsAVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	res := b.must(command.Delete{Type: product.Task(), ID: id}, at(1), key("k"))
	require.EqualValues(t, 2, res.Removal)
	require.EqualValues(t, 2, b.row(entity.GoneKey(ann, id)).Int("version"))
	receipts, err := b.store.Query(t.Context(), table.Query{
		Partition: entity.UserPK(ann), Range: table.Range{Prefix: entity.RowReceipt},
	})
	require.NoError(t, err)
	require.Len(t, receipts.Items, 1)
	require.EqualValues(t, 2, receipts.Items[0].Int("itemVersion"))
}

func TestSnoozeReminder_takesAMinuteAtLeast(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Reminder(), `{"title":"r","triggerUtc":"2025-12-01T11:00:00"}`)
	res := b.must(command.SnoozeReminder{ID: id, Minutes: minutes(1)})
	require.Equal(t, "2025-12-01T12:01:00Z", res.Item.Map("snoozeState").Str("untilUtc"))
}

func TestPause_isNotBegunIfItEndsWithTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pause := command.RandomPause(func() float64 { return 1 }, time.Now)
		began := time.Now()
		within, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, pause(within, time.Second), context.DeadlineExceeded)
		require.Equal(t, began, time.Now())
	})
}

func anyVersion(r *command.Request) { r.AnyVersion = true }

func TestAtAnyVersion_carriesOutACommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	rename := command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}
	require.EqualValues(t, 2, b.must(rename, anyVersion).Item.Int("version"))
	require.EqualValues(t, 2, b.must(rename, anyVersion, key("k")).Item.Int("version"), "nothing to change")
	_, err := b.do(rename, key("k"))
	require.Error(t, err, "without the version it is another request")
	_, err = b.do(rename, at(2), key("k"))
	require.ErrorIs(t, err, idempotency.ErrKeyReused)
	require.EqualValues(t, 1,
		b.must(command.UpdateMe{Patch: doc(`{"defaultTzid":"Europe/Berlin"}`)}, anyVersion).Item.Int("version"))
	_, err = b.do(command.Delete{Type: product.Task(), ID: "task_" + uuid(99)}, anyVersion)
	requireNotFound(t, err, "")

	version, restless := int64(2), 0
	b.fault = func(c memory.Call) error {
		if c.Op == "Update" && c.Stage == memory.Before && restless > 0 {
			fault := b.fault
			b.fault = nil
			b.must(command.Update{Type: product.Task(), ID: id,
				Patch: map[string]any{"description": time.Duration(restless).String()}}, at(version))
			version++
			restless--
			b.fault = fault
		}
		return nil
	}
	change := command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"v"}`)}
	restless = 5
	require.EqualValues(t, 8, b.must(change, anyVersion).Item.Int("version"))
	version, restless = 8, 100
	_, err = b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"w"}`)}, anyVersion)
	require.ErrorIs(t, err, table.ErrConflict)
	require.Equal(t, "v", b.stored(product.Task(), id).Str("title"))
}

func TestService_makesNoKeyOfAnImpossibleTarget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	links := `"links":[{"targetType":"NOTE","targetId":"` + strings.Repeat("x", 2000) + `"}]`
	_, err := b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{` + links + `}`)}, at(1))
	require.Equal(t, []string{"/links/0/targetId"}, pointers(t, err))
}
