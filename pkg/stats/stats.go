// Package stats keeps the statistics in USER_META: how many events, tasks, reminders and notes a user has, and when the
// last event was created and the last task completed. A series is one event, whatever becomes of its occurrences. It is
// a projection: what one item contributes is a pure function of its image, and package projection applies each
// contribution exactly once; repeating a record is safe for the reason given there.
//
// Numbers that move with the clock (events to come, overdue tasks) are not kept here but counted when they are read.
// For that the ledger row of each item that the clock moves stands in the state view, at the instant that decides.
//
// The statistics have an optimistic lock of their own, statsVersion: writing them must never touch version or
// updatedAt, which belong to the user's own changes.
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

// revision names the contribution function below. It names the same one since series are counted: what other types
// contribute did not change with that, and no series had been written before.
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

// amounts is what one item contributes.
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

// openEvent: an event counts as upcoming until it starts, unless it is cancelled.
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

// openSeries: a series counts as one upcoming event until its last occurrence starts, unless it is cancelled.
// Exceptions do not matter: what one of them moves or cancels is known to it alone.
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

// openTask: an open task counts as overdue once its due time has passed.
func openTask(it item.Item) string {
	switch it.Str(entity.AttrStatus) {
	case product.StatusBacklog, product.StatusInProgress:
		if due, floating, ok := product.TaskDue(it); ok {
			return entity.OpenSK(product.TypeTask, floating, due)
		}
	}
	return ""
}
