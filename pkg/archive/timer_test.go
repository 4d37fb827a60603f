package archive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// timers are the versions under which a task has timers.
func (w *fixture) timers(id string) (versions []int64) {
	for version := range int64(20) {
		if w.get(entity.TimerKey(ann, id, version)) != nil {
			versions = append(versions, version)
		}
	}
	return versions
}

func TestStartTimer_startsOneForEachCompletion(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	id := task.Str("taskId")
	w.deliverAll()
	task = w.patch(typ, task, map[string]any{"title": "the report"})
	w.deliverAll()
	require.Equal(t, []int64{2}, w.timers(id), "an edit of what is completed completes nothing")

	later := func(attr string, version int64) change.Change {
		after := task.Clone()
		at, ok := task.Time(attr)
		require.True(t, ok, attr)
		after.SetTime(attr, at.Add(time.Minute))
		after[entity.AttrVersion] = item.Int(version)
		return change.Change{
			Kind: change.Modified, Type: typ, User: ann, Ref: entity.Ref{Type: typ.Name, ID: id}, Key: task.Key(),
			Old: task, New: after, Version: version,
		}
	}
	for _, c := range []change.Change{later(product.AttrCompletedAt, 7), later(product.AttrArchiveAt, 9)} {
		require.Equal(t, []change.Outcome{{}}, w.consumer.Apply(t.Context(), []change.Change{c}))
		timer := w.get(entity.TimerKey(ann, id, c.Version))
		require.NotNil(t, timer, "completed at another time, or to be archived at another")
		archiveAt, _ := c.New.Time(product.AttrArchiveAt)
		require.Equal(t, archiveAt.Unix(), timer.Int(entity.AttrTTL))
	}
	require.Equal(t, []int64{2, 7, 9}, w.timers(id))
}

func TestTimerRemoved_archivesTheCompletionOfTheTimerAlone(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	id := task.Str("taskId")
	w.deliverAll()
	key := entity.TimerKey(ann, id, 2)
	fired := func(kind change.Kind, alter func(item.Item)) change.Change {
		row := w.get(key).Clone()
		alter(row)
		return change.Change{Kind: kind, User: ann, Key: key, Old: row}
	}
	other := func(attr string) func(item.Item) {
		return func(row item.Item) { row[attr] = item.String("2025-06-01T07:00:00Z") }
	}
	same := func(item.Item) {}
	for name, c := range map[string]change.Change{
		"another completion": fired(change.Expired, other(product.AttrCompletedAt)),
		"another end":        fired(change.Expired, other(product.AttrArchiveAt)),
		"removed by hand":    fired(change.Removed, same),
	} {
		require.Equal(t, []change.Outcome{{}}, w.consumer.Apply(t.Context(), []change.Change{c}), name)
		require.Equal(t, "COMPLETED", w.get(task.Key()).Str(entity.AttrStatus), name)
	}
	require.Equal(t, []change.Outcome{{}}, w.consumer.Apply(t.Context(), []change.Change{fired(change.Expired, same)}))
	archived := w.get(task.Key())
	require.Equal(t, "ARCHIVED", archived.Str(entity.AttrStatus))
	require.Equal(t, []change.Outcome{{}}, w.consumer.Apply(t.Context(), []change.Change{fired(change.Expired, same)}))
	require.Equal(t, archived, w.get(task.Key()), "its record comes again")
}

func TestTimerRemoved_parksATimerThatNamesNoTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, sk := range []string{
		"TIMER#ARCHIVE#task_1", "TIMER#ARCHIVE#task_1#x", "TIMER#OTHER#task_1#2", "TIMER#ARCHIVE#habit_1#2",
	} {
		key := item.Key{PK: entity.UserPK(ann), SK: sk}
		outcome := w.consumer.Apply(t.Context(),
			[]change.Change{{Kind: change.Expired, User: ann, Key: key, Old: key.Item()}})[0]
		require.Equal(t, change.Poison, outcome.Verdict, sk)
		require.ErrorContains(t, outcome.Err, "malformed timer", sk)
	}
}
