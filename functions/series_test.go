package functions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/env"
	"nexus/pkg/entity"
	"nexus/pkg/reminders"
)

// seriesStory is the life of the payloads' one series.
var seriesStory = []string{"stream-series-created", "stream-occurrence-changed", "stream-occurrence-cancelled", "stream-series-deleted"}

// occurrence is the id of the series' occurrence so many days after its first, as its payloads are moved.
func (w *world) occurrence(days int) string {
	return entity.InstanceID(seriesID, w.moved(present.Add(time.Hour).AddDate(0, 0, days)).Format("20060102"))
}

func TestProjectionsCountASeriesOnceAndKeepTheLinksOfItsOccurrences(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	note := entity.Ref{Type: entity.TypeNote, ID: noteID}
	series := entity.LinkKey(user, entity.Ref{Type: entity.TypeMaster, ID: seriesID}, note)
	changed := entity.LinkKey(user, entity.Ref{Type: entity.TypeInstance, ID: w.occurrence(1)}, note)
	for i, want := range []struct {
		events          int64
		series, changed bool
	}{{1, true, false}, {1, true, true}, {1, true, true}, {0, false, false}} {
		f.handled(w.happen(seriesStory[i]))
		require.Equal(t, want.events, entity.Item(w.stats()).Int(entity.StatTotalEvents), seriesStory[i])
		require.Equal(t, want.series, w.row(series) != nil, seriesStory[i])
		require.Equal(t, want.changed, w.row(changed) != nil, seriesStory[i])
	}
	for _, name := range seriesStory { // delivered again, after everything has happened
		f.handled(w.now(name))
		require.Zero(t, entity.Item(w.stats()).Int(entity.StatTotalEvents), name)
		require.Nil(t, w.row(series), name)
		require.Nil(t, w.row(changed), name)
	}
}

func TestEffectsKeepOneScheduleForTheNextOccurrenceAndThoseOfOneWithRemindersOfItsOwn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	next := func(days int) time.Time { return w.moved(present.Add(30*time.Minute).AddDate(0, 0, days)) }
	ofSeries := reminders.ScheduleName(user, seriesID, 30)
	own := map[string]time.Time{
		reminders.ScheduleName(user, w.occurrence(1), 10): w.moved(present.Add(28*time.Hour - 10*time.Minute)),
		reminders.ScheduleName(user, w.occurrence(1), 60): w.moved(present.Add(27 * time.Hour)),
	}
	with := func(at time.Time) map[string]time.Time {
		out := map[string]time.Time{ofSeries: at}
		for name, at := range own {
			out[name] = at
		}
		return out
	}
	f.handled(w.happen("stream-series-created"))
	w.requireSchedules(map[string]time.Time{ofSeries: next(0)})
	f.handled(w.happen("stream-occurrence-changed"))
	w.requireSchedules(with(next(0)))
	f.handled(w.happen("stream-occurrence-cancelled"))
	w.requireSchedules(with(next(2))) // the second occurrence has reminders of its own
	f.handled(w.happen("stream-series-deleted"))
	w.requireSchedules(nil)
	for _, name := range seriesStory {
		f.handled(w.now(name))
		w.requireSchedules(nil)
	}
	require.Empty(t, w.services.stored(), "nothing of a series is archived")
}
