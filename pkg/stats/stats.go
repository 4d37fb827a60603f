// Package stats maintains the statistics in USER_META: how many events, tasks, reminders and notes a user has, and
// when the last event was created and the last task completed. A series counts as one event, independent of its
// occurrences. The package is a projection: the contribution of one item is a pure function of its image. Package
// projection applies each contribution exactly once; repeating a record is safe for the reason given there.
//
// Numbers that change with the clock (future events, overdue tasks) are not stored: queries count them. For that, the
// ledger row of each such item is in the state view, at the instant that decides.
//
// The statistics have a separate optimistic lock, statsVersion: writing them must never touch version or updatedAt,
// which belong to the user's own changes.
package stats

import (
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
)

// Name is the projection's name.
const Name = "stats"

// revision names the contribution function below. It did not change when series were added: the contributions of other
// types stayed the same, and no series had been written before.
const revision = "s1"

// Projection returns the statistics.
func Projection() *projection.Projection {
	return projection.NewSum(projection.SumSpec{
		Name: Name, Revision: revision, Amounts: amounts,
		Target: entity.MetaKey, SumAttr: product.AttrStats, VersionAttr: product.AttrStatsVersion,
		LeaseAttr: product.AttrStatsHold, RepairsAttr: product.AttrStatsRepairs, PendingAttr: product.AttrStatsLast,
		WrittenAttr: product.AttrStatsWritten, FormAttr: product.AttrStatsForm,
		NewTarget: product.NewUserMeta, Empty: product.EmptyStats,
	})
}

// amounts returns the contribution of one item.
func amounts(t *entity.Type, it item.Item) projection.Amounts {
	switch t.Name {
	case product.TypeEvent:
		return projection.Amounts{
			Add:  map[string]int64{product.StatTotalEvents: 1},
			Max:  latest(product.StatLastEventCreated, it.Str(entity.AttrCreatedAt)),
			Open: openEvent(it),
		}
	case entity.TypeMaster:
		return projection.Amounts{
			Add:  map[string]int64{product.StatTotalEvents: 1},
			Max:  latest(product.StatLastEventCreated, it.Str(entity.AttrCreatedAt)),
			Open: openSeries(it),
		}
	case product.TypeTask:
		return projection.Amounts{
			Add:  map[string]int64{product.StatTotalTasks: 1},
			Max:  latest(product.StatLastTaskCompleted, it.Str(product.AttrCompletedAt)),
			Open: openTask(it),
		}
	case product.TypeReminder:
		return projection.Amounts{Add: map[string]int64{product.StatTotalReminders: 1}}
	case product.TypeNote:
		return projection.Amounts{Add: map[string]int64{product.StatTotalNotes: 1}}
	}
	return projection.Amounts{}
}

func latest(name, instant string) map[string]string {
	if instant == "" {
		return nil
	}
	return map[string]string{name: instant}
}

// openEvent returns until when an event counts as upcoming: until it starts, unless it is cancelled.
func openEvent(it item.Item) string {
	if it.Str(entity.AttrStatus) == product.StatusCancelled {
		return ""
	}
	start, floating, ok := eventStart(it)
	if !ok {
		return ""
	}
	return entity.OpenSK(product.TypeEvent, floating, start)
}

// openSeries returns until when a series counts as one upcoming event: until its last occurrence starts, unless it is
// cancelled. Exceptions do not matter: only their own rows show what they move or cancel.
func openSeries(it item.Item) string {
	if it.Str(entity.AttrStatus) == product.StatusCancelled {
		return ""
	}
	last, ok := it.Time(product.AttrLastStartUtc)
	if !ok {
		last = forever
	}
	return entity.OpenSK(product.TypeEvent, !it.Has(product.AttrStartTzid), last)
}

// forever is [item.Forever] as an instant.
var forever = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func eventStart(it item.Item) (at time.Time, floating, ok bool) {
	if it.Bool(product.AttrIsAllDay) {
		at, err := item.ParseDate(it.Str(product.AttrStartDate))
		return at, true, err == nil
	}
	at, ok = it.Time(product.AttrStartUtc)
	return at, !it.Has(product.AttrStartTzid), ok
}

// openTask returns from when an open task counts as overdue: once its due time has passed.
func openTask(it item.Item) string {
	switch it.Str(entity.AttrStatus) {
	case product.StatusBacklog, product.StatusInProgress:
		if due, floating, ok := product.TaskDue(it); ok {
			return entity.OpenSK(product.TypeTask, floating, due)
		}
	}
	return ""
}
