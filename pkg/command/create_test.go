package command_test

import (
	"context"
	"errors"
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

func TestCreate_isOneRoundTrip(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.must(command.Create{Type: product.Task(), Fields: doc(`{"title":"Write"}`)})
	b.took("Put")
	require.True(t, res.Created)
	require.Equal(t, entity.Ref{Type: "TASK", ID: "task_" + uuid(1)}, res.Ref)
	require.Equal(t, int64(1), res.Item.Int("version"))
	require.True(t, b.stored(product.Task(), res.Ref.ID).Equal(res.Item))
}

func TestCreate_takesAClientsIDThatWasNeverUsed(t *testing.T) {
	t.Parallel()
	mine := "task_" + uuid(77)
	for name, c := range map[string]struct {
		before func(b *fixture)
		cmd    command.Create
		state  string
		wrong  []string
	}{
		"in the command":  {cmd: command.Create{ID: mine}},
		"in the document": {cmd: command.Create{Fields: doc(`{"taskId":"` + mine + `"}`)}},
		"in both":         {cmd: command.Create{ID: mine, Fields: doc(`{"taskId":"` + mine + `"}`)}},
		"two ids": {cmd: command.Create{ID: mine, Fields: doc(`{"taskId":"task_` + uuid(78) + `"}`)},
			wrong: []string{"/taskId"}},
		"no text":          {cmd: command.Create{Fields: doc(`{"taskId":7}`)}, wrong: []string{"/taskId"}},
		"no UUID":          {cmd: command.Create{ID: "task_mine"}, wrong: []string{"/taskId"}},
		"another's prefix": {cmd: command.Create{ID: "note_" + uuid(77)}, wrong: []string{"/taskId"}},
		"a separator":      {cmd: command.Create{ID: "task_a#b"}, wrong: []string{"/taskId"}},
		"taken": {
			before: func(b *fixture) {
				b.must(command.Create{Type: product.Task(), ID: mine, Fields: doc(`{"title":"first"}`)})
			},
			cmd: command.Create{ID: mine}, state: "exists already",
		},
		"deleted": {
			before: func(b *fixture) {
				b.must(command.Create{Type: product.Task(), ID: mine, Fields: doc(`{"title":"first"}`)})
				b.must(command.Delete{Type: product.Task(), ID: mine}, at(1))
			},
			cmd: command.Create{ID: mine}, state: "was deleted",
		},
		"in the archive": {
			before: func(b *fixture) {
				require.NoError(b.t, b.store.Put(context.Background(), table.Put{Item: entity.ColdKey(ann, mine).Item()}))
			},
			cmd: command.Create{ID: mine}, state: "archive",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if c.before != nil {
				c.before(b)
				b.trips()
			}
			c.cmd.Type = product.Task()
			fields := doc(`{"title":"Write"}`)
			for name, v := range c.cmd.Fields {
				fields[name] = v
			}
			c.cmd.Fields = fields
			res, err := b.do(c.cmd)
			switch {
			case c.wrong != nil:
				require.Equal(t, c.wrong, pointers(t, err))
				b.took("")
			case c.state != "":
				requireState(t, err, c.state)
			default:
				require.NoError(t, err)
				b.took("Transact")
				require.Equal(t, mine, res.Ref.ID)
				require.Equal(t, mine, res.Item.Str("taskId"))
			}
		})
	}
}

func TestCreate_namesEverythingWrongAtOnceAndReadsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.do(
		command.Create{Type: product.Task(), Fields: doc(`{"taskId":"x","priority":9,"status":"DO#NE","version":3,
		"colour":"red","links":[{"targetType":"USER_META","targetId":"ann"},{"targetType":"NOTE","targetId":"a#b"}]}`)})
	require.ElementsMatch(t, []string{"/taskId", "/priority", "/status", "/version", "/colour", "/title",
		"/links/0/targetType", "/links/1/targetId"}, pointers(t, err))
	b.took("")
}

func TestCheckTargets_needsALivingTargetOfTheCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	foreign := b.create(product.Note(), `{"title":"n"}`, as(bob))
	lapsed := b.create(product.Note(), `{"title":"n"}`)
	b.set(entity.ItemKey(ann, entity.Ref{Type: "NOTE", ID: lapsed}), item.Item{"ttl": item.Int(noon.Unix())})
	linking := func(target string) command.Create {
		return command.Create{Type: product.Task(),
			Fields: doc(`{"title":"t","links":[{"targetType":"NOTE","targetId":"` + note +
				`"},{"targetType":"NOTE","targetId":"` + target + `"}]}`)}
	}
	for name, target := range map[string]string{"foreign": foreign, "lapsed": lapsed, "unknown": "note_x"} {
		_, err := b.do(linking(target))
		requireNotFound(t, err, "/links/1/targetId")
		b.took("BatchGet", name)
	}
	second := b.create(product.Note(), `{"title":"n"}`)
	require.Len(t, entity.LinksOf(b.must(linking(second)).Item), 2)
	b.took("BatchGet Put")
}

// A target that is deleted after it was read was there within the request: the link comes first.
func TestCheckTargets_letsALinkComeBeforeTheDeletionOfItsTarget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	b.once("Put", memory.Before, func() error {
		b.must(command.Delete{Type: product.Note(), ID: note}, at(1))
		return nil
	})
	made := b.must(command.Create{Type: product.Task(),
		Fields: doc(`{"title":"t","links":[{"targetType":"NOTE","targetId":"` + note + `"}]}`)})
	require.Len(t, entity.LinksOf(made.Item), 1)
	require.Nil(t, b.stored(product.Note(), note))
	_, err := b.do(command.AddLink{Type: product.Note(), ID: note, Target: made.Ref})
	requireNotFound(t, err, "")
}

func TestCreate_ofADoneTaskFollowsThePreferences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.must(command.UpdateMe{Patch: doc(`{"preferences":{"autoArchiveDelayHours":2}}`)}, at(0))
	b.trips()
	res := b.must(command.Create{Type: product.Task(), Fields: doc(`{"title":"t","status":"COMPLETED"}`)})
	b.took("BatchGet Put")
	require.Equal(t, item.FormatInstant(noon.Add(2*time.Hour)), res.Item.Str("archiveAt"))
}

func TestCreate_datesADueInstantByTheCommandThatSetsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.False(t,
		b.stored(product.Task(), b.create(product.Task(), `{"title":"t","dueUtc":"2025-12-24T12:00:00"}`)).Has("dueSetAt"))
	id := b.create(product.Task(), `{"title":"t","dueUtc":"2025-12-24T12:00:00","reminderMinutes":[10]}`)
	require.Equal(t, item.FormatInstant(noon), b.stored(product.Task(), id).Str("dueSetAt"))
	step := func(patch string, version int64, want time.Time) {
		t.Helper()
		b.now = b.now.Add(time.Minute)
		res := b.must(command.Update{Type: product.Task(), ID: id, Patch: doc(patch)}, at(version))
		require.Equal(t, item.FormatInstant(want), res.Item.Str("dueSetAt"))
	}
	step(`{"title":"u"}`, 1, noon)
	step(`{"dueUtc":"2025-12-24T13:00:00"}`, 2, noon.Add(2*time.Minute))
	step(`{"status":"COMPLETED"}`, 3, noon.Add(3*time.Minute))
	step(`{"status":"BACKLOG"}`, 4, noon.Add(4*time.Minute))
}

func TestCreate_needsNothingForATypeOfAnotherProduct(t *testing.T) {
	t.Parallel()
	habit := product.Note()
	habit.Name, habit.IDAttr, habit.IDPrefix, habit.Plural, habit.Index = "HABIT", "habitId", "hab", "habits", nil
	for i := range habit.Fields {
		if habit.Fields[i].Name == "noteId" {
			habit.Fields[i].Name = "habitId"
		}
	}
	b := setup(t, habit)
	id := b.create(habit, `{"title":"run"}`)
	require.Equal(t, "hab_"+uuid(1), id)
	res := b.must(command.Update{Type: habit, ID: id, Patch: doc(`{"title":"walk"}`)}, at(1))
	require.Equal(t, "walk", res.Item.Str("title"))
	task := b.create(product.Task(), `{"title":"t","links":[{"targetType":"HABIT","targetId":"`+id+`"}]}`)
	require.NotEmpty(t, task)
	b.must(command.Delete{Type: habit, ID: id}, at(2))
	require.Nil(t, b.stored(habit, id))
}

// torn reads the last key of a batch first, and lets others write before it reads the rest: a batch is no snapshot.
type torn struct {
	table.Store
	between func()
}

func (s *torn) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	last, err := s.Store.BatchGet(ctx, keys[len(keys)-1:])
	if between := s.between; between != nil {
		s.between = nil
		between()
	}
	rest, more := s.Store.BatchGet(ctx, keys[:len(keys)-1])
	return append(rest, last...), errors.Join(err, more)
}

func TestCreate_answersATwinWhoseTargetWasDeletedSince(t *testing.T) {
	t.Parallel()
	b := setup(t)
	target := b.create(product.Note(), `{"title":"n"}`)
	registry, err := entity.NewRegistry(product.Note(), product.UserMeta())
	require.NoError(t, err)
	store := &torn{Store: b.store}
	service := command.New(command.Config{
		Store: store, Registry: registry, Now: func() time.Time { return b.now }, Pause: b.pause,
		NewID: func() string { return uuid(99) },
	})
	cmd := command.Create{Type: product.Note(),
		Fields: doc(`{"title":"x","links":[{"targetType":"NOTE","targetId":"` + target + `"}]}`)}
	request := command.Request{User: ann, Command: cmd, IdempotencyKey: "k"}
	var twin command.Result
	store.between = func() {
		twin, err = service.Do(t.Context(), request)
		require.NoError(t, err)
		b.must(command.Delete{Type: product.Note(), ID: target}, at(1))
	}
	res, err := service.Do(t.Context(), request)
	require.NoError(t, err)
	require.True(t, res.Replayed)
	require.Equal(t, twin.Ref, res.Ref)
}
