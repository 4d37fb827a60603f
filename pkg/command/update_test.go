package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestUpdate_isTwoRoundTrips(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t","tags":["a"]}`)
	b.now = noon.Add(time.Hour)
	res := b.must(
		command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u","tags":null,"status":"COMPLETED"}`)}, at(1))
	b.took("BatchGet Update")
	require.Equal(t, int64(2), res.Item.Int("version"))
	require.Equal(t, "2025-12-02T13:00:00Z", res.Item.Str("archiveAt"))
	require.False(t, res.Item.Has("tags"))
	require.False(t, res.Created || res.Deleted || res.Replayed)
	require.True(t, b.stored(product.Task(), id).Equal(res.Item))
}

func TestUpdate_isRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	lapsed := b.create(product.Task(), `{"title":"t"}`)
	b.set(entity.ItemKey(ann, entity.Ref{Type: "TASK", ID: lapsed}), item.Item{"ttl": item.Int(noon.Unix())})
	patch := doc(`{"title":"u"}`)

	_, err := b.do(command.Update{Type: product.Task(), ID: id, Patch: patch})
	require.ErrorIs(t, err, command.ErrNoVersion)
	_, err = b.do(command.Update{Type: product.Task(), ID: id, Patch: patch}, at(7))
	requireStale(t, err, 1)
	_, err = b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"","version":4,"dueUtc":"soon"}`)},
		at(1))
	require.ElementsMatch(t, []string{"/title", "/version", "/dueUtc"}, pointers(t, err))
	for name, c := range map[string]struct {
		typ  *entity.Type
		id   string
		user string
	}{
		"unknown":         {product.Task(), "task_x", ann},
		"another user's":  {product.Task(), id, bob},
		"lapsed":          {product.Task(), lapsed, ann},
		"of another type": {product.Task(), "note_x", ann},
		"no id":           {product.Task(), "task_a#b", ann},
		"no collection":   {product.UserMeta(), ann, ann},
		"no type":         {nil, id, ann},
	} {
		_, err := b.do(command.Update{Type: c.typ, ID: c.id, Patch: patch}, at(1), as(c.user))
		requireNotFound(t, err, "")
		_, err = b.do(command.Delete{Type: c.typ, ID: c.id}, at(1), as(c.user))
		requireNotFound(t, err, "")
		_ = name
	}
	_, err = b.do(command.Update{Type: product.Task(), ID: id, Patch: patch}, at(1), as("ann#2025"))
	require.ErrorIs(t, err, entity.ErrID)
	require.Equal(t, int64(1), b.stored(product.Task(), id).Int("version"))
}

func TestUpdate_ofNothingWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(),
		`{"title":"t","tags":["a","b"],"reminderMinutes":[5,10],"dueUtc":"2026-01-01T00:00:00"}`)
	res := b.must(command.Update{Type: product.Task(), ID: id,
		Patch: doc(`{"title":"t","tags":["b","a"],"color":null,"dueUtc":"2026-01-01T00:00:00"}`)}, at(1))
	b.took("BatchGet")
	require.Equal(t, int64(1), res.Item.Int("version"))
}

func TestUpdate_returnsThePresentItemIfItLosesTheRace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	mine := command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"mine"}`)}
	b.once("Update", memory.Before, func() error {
		b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"theirs"}`)}, at(1))
		return nil
	})
	_, err := b.do(mine, at(1))
	requireStale(t, err, 2)
	b.took("BatchGet Update BatchGet Update", "the row that came back says it")
	b.once("Update", memory.Before, func() error {
		b.must(command.Delete{Type: product.Task(), ID: id}, at(2))
		return nil
	})
	_, err = b.do(mine, at(2))
	requireNotFound(t, err, "")
}

func TestUpdate_takesBookkeepingOfAConsumerForNoConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t","status":"ARCHIVED"}`)
	k := entity.ItemKey(ann, entity.Ref{Type: "TASK", ID: id})
	expiry := item.Item{"ttl": item.Int(noon.Add(time.Hour).Unix())}
	b.once("Update", memory.Before, func() error {
		b.set(k, expiry)
		return nil
	})
	res := b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}, at(1))
	require.Equal(t, int64(2), res.Item.Int("version"))
	require.False(t, b.row(k).Has("ttl"), "a changed entity must not expire")
}

func TestUpdate_changesACompletedTaskPastItsTimerAsArchived(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t","status":"COMPLETED","dueUtc":"2025-12-01T08:00:00"}`)
	b.now = noon.Add(48 * time.Hour)
	require.Equal(t, "COMPLETED", b.stored(product.Task(), id).Str("status"))

	res := b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"status":"ARCHIVED"}`)}, at(1))
	b.took("BatchGet", "it is archived already")
	require.Equal(t, "ARCHIVED", res.Item.Str("status"))

	b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}, at(1))
	stored := b.stored(product.Task(), id)
	require.Equal(t, "ARCHIVED", stored.Str("status"))
	require.Equal(t, "TASK#ARCHIVED#P3#2025-12-01T12:00:00Z", stored.Str("GSI3SK"))
	require.Equal(t, "2025-12-02T12:00:00Z", stored.Str("archivedAt"))
	require.False(t, stored.Has("archiveAt") || stored.Has("GSI1PK"))
}

func TestUpdate_doesNotCheckLinksThatStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	links := `"links":[{"targetType":"NOTE","targetId":"` + note + `"}]`
	id := b.create(product.Task(), `{"title":"t",`+links+`}`)
	b.must(command.Delete{Type: product.Note(), ID: note}, at(1))
	b.trips()
	b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u",` + links + `}`)}, at(1))
	b.took("BatchGet Update")
	_, err := b.do(
		command.Update{Type: product.Task(), ID: id, Patch: doc(`{"links":[{"targetType":"NOTE","targetId":"` + note +
			`"},{"targetType":"NOTE","targetId":"note_y"}]}`)}, at(2))
	requireNotFound(t, err, "/links/1/targetId")
}

func TestDelete_isForGood(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	remove := command.Delete{Type: product.Task(), ID: id}
	_, err := b.do(remove)
	require.ErrorIs(t, err, command.ErrNoVersion)
	_, err = b.do(remove, at(2))
	requireStale(t, err, 1)
	b.trips()
	res := b.must(remove, at(1))
	b.took("Transact")
	require.True(t, res.Deleted)
	require.Nil(t, res.Item)
	gone := b.row(entity.GoneKey(ann, id))
	require.NotNil(t, gone)
	require.False(t, gone.Has("ttl"))
	require.EqualValues(t, 2, gone.Int("version"), "the version that the removal counts as")
	_, err = b.do(remove, at(1))
	requireNotFound(t, err, "")
}

func TestDelete_takesAnItemThatIsToExpireUntilItHas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	b.set(entity.ItemKey(ann, entity.Ref{Type: "TASK", ID: id}), item.Item{"ttl": item.Int(noon.Add(time.Hour).Unix())})
	b.now = noon.Add(time.Hour)
	_, err := b.do(command.Delete{Type: product.Task(), ID: id}, at(1))
	requireNotFound(t, err, "")
	require.NotNil(t, b.stored(product.Task(), id))
	b.now = noon
	b.trips()
	b.must(command.Delete{Type: product.Task(), ID: id}, at(1))
	b.took("Transact Transact")
}

func TestUpdate_retriesATransactionConflictABoundedNumberOfTimes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(product.Task(), `{"title":"t"}`)
	b.once("Update", memory.Before, func() error { return table.ErrConflict })
	b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"u"}`)}, at(1))
	b.trips()
	b.fault = func(c memory.Call) error {
		if c.Op == "BatchGet" {
			return nil
		}
		return table.ErrConflict
	}
	_, err := b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"v"}`)}, at(2))
	require.ErrorIs(t, err, table.ErrConflict)
	b.took(strings.TrimSpace(strings.Repeat("BatchGet Update ", 12)))
	b.fault = func(memory.Call) error { return table.ErrThrottled }
	_, err = b.do(command.Update{Type: product.Task(), ID: id, Patch: doc(`{"title":"v"}`)}, at(2))
	require.ErrorIs(t, err, table.ErrThrottled)
	b.took("BatchGet")
}
